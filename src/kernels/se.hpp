#pragma once

#include "kernels/stationary.hpp"

namespace covary {

// g = exp(−r²/2)
class SquaredExponential final : public Stationary {
 public:
  using Stationary::Stationary;
  std::optional<GaussianForm> gaussian_form(Index dims) const override;
  void pullback_of_values(const double* theta, const PairBlock& p, const double* K,
                          const double* Kbar, double* theta_bar, double* xbar,
                          double* zbar) const override;

 protected:
  void profile(double shape, double variance, double* r2, Index n) const override;
  void profile_slope(double shape, const double* r2, Index n, double* g, double* slope,
                     double* shape_slope) const override;
  double spectral_scale(double, Random&) const override { return 1.0; }
};

}  // namespace covary
