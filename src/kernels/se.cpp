#include "covary/linalg/vector_math.hpp"
#include "kernels/stationary.hpp"

namespace covary {
namespace {

// g = exp(−r²/2)
class SquaredExponential final : public Stationary {
 public:
  using Stationary::Stationary;

 protected:
  void profile(double, double* r2, Index n) const override {
    for (Index i = 0; i < n; ++i) r2[i] *= -0.5;
    vector_exp(r2, r2, n);
  }
  void profile_slope(double, const double* r2, Index n, double* g, double* slope,
                     double*) const override {
    for (Index i = 0; i < n; ++i) g[i] = -0.5 * r2[i];
    vector_exp(g, g, n);
    for (Index i = 0; i < n; ++i) slope[i] = -0.5 * g[i];
  }
  double spectral_scale(double, Random&) const override { return 1.0; }
};

}  // namespace

Kernel se(bool ard, Start start) {
  return {std::make_shared<SquaredExponential>("se", ard, std::move(start))};
}

}  // namespace covary
