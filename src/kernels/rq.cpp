#include <cmath>

#include "covary/linalg/vector_math.hpp"
#include "kernels/stationary.hpp"

namespace covary {
namespace {

// g = b^−α, b = 1 + r²/2α; dg/dr² = −½b^(−α−1); dg/dα = g·(−log b + (b − 1)/b)
class RationalQuadratic final : public Stationary {
 public:
  RationalQuadratic(bool ard, Start start, std::optional<double> alpha)
      : Stationary("rq", ard, std::move(start)), alpha_(alpha) {}

 protected:
  void profile(double alpha, double variance, double* r2, Index n) const override {
    for (Index i = 0; i < n; ++i) r2[i] = std::log1p(r2[i] / (2.0 * alpha));
    vector_exp(r2, r2, n, -alpha, variance);
  }
  void profile_slope(double alpha, const double* r2, Index n, double* g, double* slope,
                     double* shape_slope) const override {
    for (Index i = 0; i < n; ++i) {
      const double excess = r2[i] / (2.0 * alpha), log_b = std::log1p(excess);
      g[i] = -alpha * log_b;
      slope[i] = -0.5 / (1.0 + excess);
      shape_slope[i] = -log_b + excess / (1.0 + excess);
    }
    vector_exp(g, g, n);
    for (Index i = 0; i < n; ++i) slope[i] *= g[i];
    for (Index i = 0; i < n; ++i) shape_slope[i] *= g[i];
  }
  // A mixture of squared exponentials whose precision is gamma(α)/α.
  double spectral_scale(double alpha, Random& random) const override {
    return std::sqrt(random.gamma(alpha) / alpha);
  }
  std::string shape_name() const override { return "alpha"; }
  std::optional<double> shape_start() const override { return alpha_; }

 private:
  std::optional<double> alpha_;
};

}  // namespace

Kernel rq(bool ard, Start start, std::optional<double> alpha) {
  return {std::make_shared<RationalQuadratic>(ard, std::move(start), alpha)};
}

}  // namespace covary
