#include <cmath>

#include "covary/linalg/vector_math.hpp"
#include "kernels/stationary.hpp"

namespace covary {
namespace {

// g = exp(−r). Its slope by r² is −exp(−r)/2r: infinite at r = 0, where paths have no derivative;
// there the lengthscale's derivative is zero and the input's is taken as zero.
class Matern12 final : public Stationary {
 public:
  using Stationary::Stationary;
  double matern_order() const override { return 0.5; }

 protected:
  void profile(double, double variance, double* r2, Index n) const override {
    for (Index i = 0; i < n; ++i) r2[i] = std::sqrt(r2[i]);
    vector_exp(r2, r2, n, -1.0, variance);
  }
  void profile_slope(double, const double* r2, Index n, double* g, double* slope,
                     double*) const override {
    for (Index i = 0; i < n; ++i) g[i] = -std::sqrt(r2[i]);
    for (Index i = 0; i < n; ++i) slope[i] = r2[i] > 0.0 ? 0.5 / g[i] : 0.0;
    vector_exp(g, g, n);
    for (Index i = 0; i < n; ++i) slope[i] *= g[i];
  }
  // ω is Student-t with 2ν = 1 degree of freedom: normal·√(ν/Γ(ν)).
  double spectral_scale(double, Random& random) const override {
    return std::sqrt(0.5 / random.gamma(0.5));
  }
};

}  // namespace

Kernel matern12(bool ard, Start start) {
  return {std::make_shared<Matern12>("matern12", ard, std::move(start))};
}

}  // namespace covary
