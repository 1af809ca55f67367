#include <cmath>

#include "covary/kernels/kernels.hpp"
#include "kernels/product_feature.hpp"
#include "kernels/support.hpp"

namespace covary {
namespace {

class Constant final : public KernelNode {
 public:
  explicit Constant(std::optional<double> variance) : variance_(variance) {}

  std::string print() const override {
    return variance_ ? call("constant", {argument("variance", {*variance_})}) : "constant";
  }
  void declare(Parameters& out, const std::string& path, const DataScale& scale) const override {
    declare_positive(out, path + ".variance", variance_, scale.y_variance);
  }
  Index parameter_count(Index) const override { return 1; }
  void evaluate(const double* theta, const PairBlock& p, double* K) const override {
    std::fill_n(K, p.x.n * p.z.n, theta[0]);
  }
  void pullback(const double*, const PairBlock& p, const double* Kbar, double* theta_bar, double*,
                double*) const override {
    for (Index i = 0; i < p.x.n * p.z.n; ++i) theta_bar[0] += Kbar[i];
  }
  void diagonal(const double* theta, const RowBlock& x, double* k) const override {
    std::fill_n(k, x.n, theta[0]);
  }
  void diagonal_pullback(const double*, const RowBlock& x, const double* kbar, double* theta_bar,
                         double*) const override {
    for (Index i = 0; i < x.n; ++i) theta_bar[0] += kbar[i];
  }
  std::unique_ptr<RandomFeature> random_feature(const double* theta, Index,
                                                Random&) const override {
    return std::make_unique<ProductFeature>(std::sqrt(theta[0]));
  }
  std::optional<GaussianForm> gaussian_form(Index dims) const override {
    GaussianTerm t;
    t.variances = {0};
    t.lengthscales.resize(static_cast<std::size_t>(dims));
    return GaussianForm{{t}, {}};
  }

 private:
  std::optional<double> variance_;
};

}  // namespace

Kernel constant(std::optional<double> variance) { return {std::make_shared<Constant>(variance)}; }

}  // namespace covary
