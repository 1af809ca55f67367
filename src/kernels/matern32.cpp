#include <cmath>

#include "covary/linalg/vector_math.hpp"
#include "kernels/stationary.hpp"

namespace covary {
namespace {

// g = (1 + a)exp(−a), a = √3 r; dg/dr² = −(3/2)exp(−a)
class Matern32 final : public Stationary {
 public:
  using Stationary::Stationary;
  double matern_order() const override { return 1.5; }

 protected:
  void profile(double, double variance, double* r2, Index n) const override {
    Scratch e(n);
    for (Index i = 0; i < n; ++i) e[i] = -std::sqrt(3.0 * r2[i]);
    for (Index i = 0; i < n; ++i) r2[i] = 1.0 - e[i];
    vector_exp(e.get(), e.get(), n, 1.0, variance);
    for (Index i = 0; i < n; ++i) r2[i] *= e[i];
  }
  void profile_slope(double, const double* r2, Index n, double* g, double* slope,
                     double*) const override {
    for (Index i = 0; i < n; ++i) slope[i] = -std::sqrt(3.0 * r2[i]);
    for (Index i = 0; i < n; ++i) g[i] = 1.0 - slope[i];
    vector_exp(slope, slope, n);
    for (Index i = 0; i < n; ++i) g[i] *= slope[i];
    for (Index i = 0; i < n; ++i) slope[i] *= -1.5;
  }
  double spectral_scale(double, Random& random) const override {
    return std::sqrt(1.5 / random.gamma(1.5));
  }
};

}  // namespace

Kernel matern32(bool ard, Start start) {
  return {std::make_shared<Matern32>("matern32", ard, std::move(start))};
}

}  // namespace covary
