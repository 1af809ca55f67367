#pragma once

#include <optional>
#include <string>
#include <utility>

#include "covary/inference/sparse.hpp"

namespace covary {

// What a certificate may cost. Beyond it the bracket is that of the trace, in O(NM²).
struct CertificateBudget {
  double max_flops = 2e11;
  Index max_iterations = 50;
  double tolerance = 1e-3;  // nats of the bracket that are left to the solve
};

// lower ≤ log evidence of the exact model ≤ upper, proven up to rounding.
struct Certificate {
  double lower = 0.0, upper = 0.0;
  double elbo = 0.0;       // VFE's bound, whatever the approximation: the posterior is judged by it
  bool certified = false;  // by conjugate gradients; else `note` says why not
  std::string method;      // "conjugate gradients" or "trace"
  Index iterations = 0;
  double seconds = 0.0;
  double flops = 0.0;  // spent, or what would have been needed
  std::string note;
  // With g = upper − elbo, which bounds KL(q‖posterior): the mean of f is anywhere within √(2g)
  // exact posterior standard deviations of the exact one, and the ratio of the variances lies
  // between the roots of r − 1 − log r = 2g. Given for g ≤ 1 and approximations whose posterior
  // is VFE's.
  std::optional<double> mean_error_sd;
  std::optional<std::pair<double, double>> variance_ratio;

  double gap() const { return upper - lower; }
};

Certificate certify(const SparseProblem& problem, const SparseValues& values, Jitter& jitter,
                    const CertificateBudget& budget = {});

// What `iterations` steps of conjugate gradients and the bounds around them will cost.
double certificate_flops(const SparseProblem& problem, Index iterations);

// The roots of r − 1 − log r = 2·gap, below and above 1.
std::pair<double, double> variance_ratio_bounds(double gap);

}  // namespace covary
