#include "covary/kernels/kernels.hpp"
#include "kernels/support.hpp"

namespace covary {
namespace {

// σ² δ(row, row'): by row identity, so two rows with equal inputs are still two observations.
class White final : public KernelNode {
 public:
  explicit White(std::optional<double> variance) : variance_(variance) {}

  std::string print() const override {
    return variance_ ? call("white", {argument("variance", {*variance_})}) : "white";
  }
  void declare(Parameters& out, const std::string& path, const DataScale& scale) const override {
    declare_positive(out, path + ".variance", variance_, 0.1 * scale.y_variance);
  }
  Index parameter_count(Index) const override { return 1; }
  void evaluate(const double* theta, const PairBlock& p, double* K) const override {
    std::fill_n(K, p.x.n * p.z.n, 0.0);
    on_diagonal(p, [&](Index at) { K[at] = theta[0]; });
  }
  void pullback(const double*, const PairBlock& p, const double* Kbar, double* theta_bar, double*,
                double*) const override {
    on_diagonal(p, [&](Index at) { theta_bar[0] += Kbar[at]; });
  }
  void diagonal(const double* theta, const RowBlock& x, double* k) const override {
    std::fill_n(k, x.n, theta[0]);
  }
  void diagonal_pullback(const double*, const RowBlock& x, const double* kbar, double* theta_bar,
                         double*) const override {
    for (Index i = 0; i < x.n; ++i) theta_bar[0] += kbar[i];
  }
  std::optional<GaussianForm> gaussian_form(Index) const override {
    return GaussianForm{{}, {WhiteTerm{1.0, {0}}}};
  }
  bool is_white() const override { return true; }

 private:
  // Calls f with the place of each pair of one observation.
  template <class F>
  static void on_diagonal(const PairBlock& p, F f) {
    if (!p.same) return;
    for (Index i = 0; i < p.x.n; ++i) {
      const Index j = p.x.first + i - p.z.first;
      if (j >= 0 && j < p.z.n) f(i + j * p.x.n);
    }
  }

  std::optional<double> variance_;
};

}  // namespace

Kernel white(std::optional<double> variance) { return {std::make_shared<White>(variance)}; }

}  // namespace covary
