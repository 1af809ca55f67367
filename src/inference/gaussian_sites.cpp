#include "inference/gaussian_sites.hpp"

#include <algorithm>

#include "covary/linalg/blas.hpp"

namespace covary {

bool SiteState::compute(const LatentProblem& problem, GaussianSites at) {
  sites = std::move(at);
  if (!sites.nu.allFinite() || !sites.tau.allFinite()) return false;
  if (!factor.compute(problem.K, sites.tau)) return false;
  alpha = sites.nu - factor.apply(multiply(problem.K, sites.nu));
  h = multiply(problem.K, alpha);
  variance = factor.variances(problem.K);
  return variance.minCoeff() > 0.0;
}

double SiteState::distance(const GaussianSites& to) const {
  return std::max((to.tau - sites.tau).cwiseProduct(variance).cwiseAbs().maxCoeff(),
                  (to.nu - sites.nu).cwiseProduct(variance.cwiseSqrt()).cwiseAbs().maxCoeff());
}

GaussianSites SiteState::towards(const GaussianSites& to, double fraction) const {
  return {sites.nu + fraction * (to.nu - sites.nu), sites.tau + fraction * (to.tau - sites.tau)};
}

}  // namespace covary
