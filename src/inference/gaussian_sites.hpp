#pragma once

#include "covary/inference/site_factor.hpp"

namespace covary {

// q(f) ∝ N(f; m, K)·Π exp(ν_n h_n − ½τ_n h_n²), h = f − m: the form of q in EP and at the optimum
// of the full variational bound.
struct GaussianSites {
  Vector nu, tau;
};

struct SiteState {
  GaussianSites sites;
  SiteFactor factor;
  Vector alpha;        // K⁻¹·E h = ν − R·K·ν
  Vector h, variance;  // marginals of h under q

  // False where q is not a density.
  bool compute(const Matrix& K, GaussianSites at);
  // max |Δτ|·variance and |Δν|·√variance: how far other sites are, free of units
  double distance(const GaussianSites& to) const;
  // A fraction of the way to other sites
  GaussianSites towards(const GaussianSites& to, double fraction) const;
};

// Sites that come no nearer than this differ by rounding and quadrature alone, as those of large
// counts do, where the cavity is much wider than the likelihood. The value is stationary in them.
constexpr double settled = 1e-5;

}  // namespace covary
