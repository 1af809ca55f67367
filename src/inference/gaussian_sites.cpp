#include "inference/gaussian_sites.hpp"

#include <algorithm>

#include "covary/linalg/blas.hpp"

namespace covary {

bool SiteState::compute(const Matrix& K, GaussianSites at) {
  sites = std::move(at);
  if (!sites.nu.allFinite() || !sites.tau.allFinite()) return false;
  if (!factor.compute(K, sites.tau)) return false;
  alpha = sites.nu - factor.apply(multiply(K, sites.nu));
  h = multiply(K, alpha);
  variance = factor.variances(K);
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
