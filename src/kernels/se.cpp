#include "kernels/se.hpp"

#include "covary/linalg/vector_math.hpp"

namespace covary {

void SquaredExponential::profile(double, double variance, double* r2, Index n) const {
  vector_exp(r2, r2, n, -0.5, variance);
}

void SquaredExponential::profile_slope(double, const double* r2, Index n, double* g, double* slope,
                                       double*) const {
  vector_exp(r2, g, n, -0.5);
  for (Index i = 0; i < n; ++i) slope[i] = -0.5 * g[i];
}

std::optional<GaussianForm> SquaredExponential::gaussian_form(Index dims) const {
  const bool one_for_all = parameter_count(dims) == 2;
  GaussianTerm t;
  t.variances = {0};
  for (Index d = 0; d < dims; ++d) t.lengthscales.push_back({one_for_all ? 1 : 1 + d});
  return GaussianForm{{t}, {}};
}

// dk/dr² = −k/2: neither distances nor exponentials are needed again.
void SquaredExponential::pullback_of_values(const double* theta, const PairBlock& p,
                                            const double* K, const double* Kbar, double* theta_bar,
                                            double* xbar, double* zbar) const {
  const Index n = p.x.n * p.z.n;
  Scratch W(n);
  const double sum = vector_product(-0.5, K, Kbar, W.get(), n);
  theta_bar[0] -= 2.0 * sum / theta[0];
  pull_distances(theta, p, W.get(), theta_bar, xbar, zbar);
}

Kernel se(bool ard, Start start) {
  return {std::make_shared<SquaredExponential>("se", ard, std::move(start))};
}

}  // namespace covary
