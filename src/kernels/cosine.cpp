#include <cmath>
#include <numbers>

#include "covary/kernels/kernels.hpp"
#include "kernels/support.hpp"

namespace covary {
namespace {

// σ² cos(2π Σ_d (x_d − x'_d)/period_d): a sinusoid of random phase and amplitude. As the angle is a
// difference of one number a point, cos(a − b) = cos a cos b + sin a sin b.
class Cosine final : public KernelNode {
 public:
  Cosine(std::optional<double> variance, std::vector<double> period, bool ard)
      : variance_(variance), period_(std::move(period)), ard_(ard) {}

  std::string print() const override {
    std::vector<std::string> arguments;
    if (ard_) arguments.emplace_back("ard");
    if (variance_) arguments.push_back(argument("variance", {*variance_}));
    if (!period_.empty()) arguments.push_back(argument("period", period_));
    return call("cosine", arguments);
  }
  void declare(Parameters& out, const std::string& path, const DataScale& scale) const override {
    declare_positive(out, path + ".variance", variance_, scale.y_variance);
    declare_positive(
        out, path + ".period", periods(scale.dims()), period_,
        ard_ ? Vector(scale.x_range / 3.0) : Vector::Constant(1, scale.x_range.mean() / 3.0));
  }
  Index parameter_count(Index dims) const override { return 1 + periods(dims); }

  void evaluate(const double* theta, const PairBlock& p, double* K) const override {
    const Angle x(theta, p.x, ard_), z(theta, p.z, ard_);
    for (Index j = 0; j < p.z.n; ++j)
      for (Index i = 0; i < p.x.n; ++i)
        K[i + j * p.x.n] = theta[0] * (x.cosine(i) * z.cosine(j) + x.sine(i) * z.sine(j));
  }
  void pullback(const double* theta, const PairBlock& p, const double* Kbar, double* theta_bar,
                double* xbar, double* zbar) const override {
    const Index dims = p.x.dims;
    const Angle x(theta, p.x, ard_), z(theta, p.z, ard_);
    // With s = sin of the angle's difference, ∂/∂(a_i) = −σ² Σ_j Kbar s and ∂/∂(b_j) = +σ² Σ_i Kbar
    // s.
    Vector a_bar = Vector::Zero(p.x.n), b_bar = Vector::Zero(p.z.n);
    double variance_bar = 0.0;
    for (Index j = 0; j < p.z.n; ++j)
      for (Index i = 0; i < p.x.n; ++i) {
        const double w = Kbar[i + j * p.x.n];
        variance_bar += w * (x.cosine(i) * z.cosine(j) + x.sine(i) * z.sine(j));
        const double pull = theta[0] * w * (x.sine(i) * z.cosine(j) - x.cosine(i) * z.sine(j));
        a_bar(i) -= pull;
        b_bar(j) += pull;
      }
    theta_bar[0] += variance_bar;
    angle_pullback(theta, p.x, a_bar, theta_bar, xbar, dims);
    angle_pullback(theta, p.z, b_bar, theta_bar, zbar, dims);
  }
  void diagonal(const double* theta, const RowBlock& x, double* k) const override {
    std::fill_n(k, x.n, theta[0]);
  }
  void diagonal_pullback(const double*, const RowBlock& x, const double* kbar, double* theta_bar,
                         double*) const override {
    for (Index i = 0; i < x.n; ++i) theta_bar[0] += kbar[i];
  }
  std::unique_ptr<RandomFeature> random_feature(const double* theta, Index dims,
                                                Random& random) const override {
    Vector omega(dims);
    for (Index d = 0; d < dims; ++d) omega(d) = two_pi / theta[1 + (ard_ ? d : 0)];
    return cosine_feature(std::sqrt(theta[0]), std::move(omega), random);
  }

 private:
  static constexpr double two_pi = 2.0 * std::numbers::pi;

  struct Angle {
    Vector cosine, sine;
    Angle(const double* theta, const RowBlock& x, bool ard) : cosine(x.n), sine(x.n) {
      for (Index i = 0; i < x.n; ++i) {
        double a = 0.0;
        for (Index d = 0; d < x.dims; ++d) a += x.row(i)[d] / theta[1 + (ard ? d : 0)];
        cosine(i) = std::cos(two_pi * a);
        sine(i) = std::sin(two_pi * a);
      }
    }
  };
  void angle_pullback(const double* theta, const RowBlock& x, const Vector& a_bar,
                      double* theta_bar, double* xbar, Index dims) const {
    for (Index i = 0; i < x.n; ++i)
      for (Index d = 0; d < dims; ++d) {
        const double period = theta[1 + (ard_ ? d : 0)], pull = two_pi * a_bar(i) / period;
        theta_bar[1 + (ard_ ? d : 0)] -= pull * x.row(i)[d] / period;
        if (xbar) xbar[i * dims + d] += pull;
      }
  }
  Index periods(Index dims) const { return ard_ ? dims : 1; }

  std::optional<double> variance_;
  std::vector<double> period_;
  bool ard_;
};

}  // namespace

Kernel cosine(std::optional<double> variance, std::vector<double> period, bool ard) {
  return {std::make_shared<Cosine>(variance, std::move(period), ard)};
}

}  // namespace covary
