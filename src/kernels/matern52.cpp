#include <cmath>

#include "covary/linalg/vector_math.hpp"
#include "kernels/stationary.hpp"

namespace covary {
namespace {

// g = (1 + a + a²/3)exp(−a), a = √5 r; dg/dr² = −(5/6)(1 + a)exp(−a)
class Matern52 final : public Stationary {
 public:
  using Stationary::Stationary;
  double matern_order() const override { return 2.5; }

 protected:
  void profile(double, double variance, double* r2, Index n) const override {
    Scratch e(n);
    for (Index i = 0; i < n; ++i) e[i] = -std::sqrt(5.0 * r2[i]);
    for (Index i = 0; i < n; ++i) r2[i] = 1.0 - e[i] + (5.0 / 3.0) * r2[i];
    vector_exp(e.get(), e.get(), n, 1.0, variance);
    for (Index i = 0; i < n; ++i) r2[i] *= e[i];
  }
  void profile_slope(double, const double* r2, Index n, double* g, double* slope,
                     double*) const override {
    Scratch e(n);
    for (Index i = 0; i < n; ++i) e[i] = -std::sqrt(5.0 * r2[i]);
    for (Index i = 0; i < n; ++i) slope[i] = 1.0 - e[i];
    for (Index i = 0; i < n; ++i) g[i] = slope[i] + (5.0 / 3.0) * r2[i];
    vector_exp(e.get(), e.get(), n);
    for (Index i = 0; i < n; ++i) g[i] *= e[i];
    for (Index i = 0; i < n; ++i) slope[i] *= (-5.0 / 6.0) * e[i];
  }
  double spectral_scale(double, Random& random) const override {
    return std::sqrt(2.5 / random.gamma(2.5));
  }
};

}  // namespace

Kernel matern52(bool ard, Start start) {
  return {std::make_shared<Matern52>("matern52", ard, std::move(start))};
}

}  // namespace covary
