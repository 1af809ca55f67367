#include <cmath>

#include "covary/kernels/kernels.hpp"
#include "kernels/dot_feature.hpp"
#include "kernels/support.hpp"

namespace covary {
namespace {

// Σ_d σ_d² x_d x'_d
class Linear final : public KernelNode {
 public:
  Linear(bool ard, std::vector<double> variances) : ard_(ard), variances_(std::move(variances)) {}

  std::string print() const override {
    std::vector<std::string> arguments;
    if (ard_) arguments.emplace_back("ard");
    if (!variances_.empty()) arguments.push_back(argument(name(), variances_));
    return call("linear", arguments);
  }
  void declare(Parameters& out, const std::string& path, const DataScale& scale) const override {
    const double share = scale.y_variance / static_cast<double>(scale.dims());
    const Vector start = ard_ ? Vector(share / scale.x_sd.array().square())
                              : Vector::Constant(1, share / scale.x_sd.array().square().mean());
    declare_positive(out, path + "." + name(), ard_ ? scale.dims() : 1, variances_, start);
  }
  Index parameter_count(Index dims) const override { return ard_ ? dims : 1; }

  void evaluate(const double* theta, const PairBlock& p, double* K) const override {
    std::fill_n(K, p.x.n * p.z.n, 0.0);
    for (Index j = 0; j < p.z.n; ++j)
      for (Index d = 0; d < p.x.dims; ++d) {
        const double weight = variance(theta, d) * p.z.row(j)[d];
        for (Index i = 0; i < p.x.n; ++i) K[i + j * p.x.n] += weight * p.x.row(i)[d];
      }
  }
  void pullback(const double* theta, const PairBlock& p, const double* Kbar, double* theta_bar,
                double* xbar, double* zbar) const override {
    const Index dims = p.x.dims;
    for (Index j = 0; j < p.z.n; ++j)
      for (Index d = 0; d < dims; ++d) {
        const double v = variance(theta, d), zj = p.z.row(j)[d];
        double along = 0.0;  // Σ_i Kbar_ij x_id
        for (Index i = 0; i < p.x.n; ++i) {
          const double w = Kbar[i + j * p.x.n];
          along += w * p.x.row(i)[d];
          if (xbar) xbar[i * dims + d] += v * w * zj;
        }
        theta_bar[ard_ ? d : 0] += along * zj;
        if (zbar) zbar[j * dims + d] += v * along;
      }
  }
  void diagonal(const double* theta, const RowBlock& x, double* k) const override {
    for (Index i = 0; i < x.n; ++i) {
      k[i] = 0.0;
      for (Index d = 0; d < x.dims; ++d) k[i] += variance(theta, d) * x.row(i)[d] * x.row(i)[d];
    }
  }
  void diagonal_pullback(const double* theta, const RowBlock& x, const double* kbar,
                         double* theta_bar, double* xbar) const override {
    for (Index i = 0; i < x.n; ++i)
      for (Index d = 0; d < x.dims; ++d) {
        const double v = x.row(i)[d];
        theta_bar[ard_ ? d : 0] += kbar[i] * v * v;
        if (xbar) xbar[i * x.dims + d] += 2.0 * kbar[i] * variance(theta, d) * v;
      }
  }
  std::unique_ptr<RandomFeature> random_feature(const double* theta, Index dims,
                                                Random& random) const override {
    Vector weights = random.normal_vector(dims);
    for (Index d = 0; d < dims; ++d) weights(d) *= std::sqrt(variance(theta, d));
    return std::make_unique<DotFeature>(0.0, std::move(weights));
  }
  std::optional<GaussianForm> gaussian_form(Index dims) const override {
    GaussianTerm t;
    t.lengthscales.resize(static_cast<std::size_t>(dims));
    for (Index d = 0; d < dims; ++d) t.linear.push_back(ard_ ? d : 0);
    return GaussianForm{{t}, {}};
  }

 private:
  double variance(const double* theta, Index d) const { return theta[ard_ ? d : 0]; }
  std::string name() const { return ard_ ? "variances" : "variance"; }

  bool ard_;
  std::vector<double> variances_;
};

}  // namespace

Kernel linear(bool ard, std::vector<double> variances) {
  return {std::make_shared<Linear>(ard, std::move(variances))};
}

}  // namespace covary
