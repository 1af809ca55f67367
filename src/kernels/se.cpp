#include "kernels/se.hpp"

#include "covary/linalg/vector_math.hpp"

namespace covary {

void SquaredExponential::profile(double, double* r2, Index n) const {
  for (Index i = 0; i < n; ++i) r2[i] *= -0.5;
  vector_exp(r2, r2, n);
}

void SquaredExponential::profile_slope(double, const double* r2, Index n, double* g, double* slope,
                                       double*) const {
  for (Index i = 0; i < n; ++i) g[i] = -0.5 * r2[i];
  vector_exp(g, g, n);
  for (Index i = 0; i < n; ++i) slope[i] = -0.5 * g[i];
}

Kernel se(bool ard, Start start) {
  return {std::make_shared<SquaredExponential>("se", ard, std::move(start))};
}

}  // namespace covary
