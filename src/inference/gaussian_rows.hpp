#pragma once

#include "covary/inference/sparse.hpp"
#include "statistics/expectations.hpp"

namespace covary {

// The collapsed bound of VFE averaged over Gaussian inputs (Titsias & Lawrence 2010): problem.sweep
// is over GaussianRows. Variances of zero give VFE at the means. The divergence of the inputs from
// their prior is not part of it. There is only the route by Ψ2, so jitter climbs until
// ρ = 1.1e-16·tr(Ψ2)/(σ²·λmin(Kuu + jitter)) ≤ 1e-4 or the ladder ends; `terms.rho` and `jitter`
// say what was used. problem.approximation must be vfe. `kept` is memory of a caller that evaluates
// many times, for one evaluation at a time.
SparseEvaluation evaluate_gaussian_rows(const SparseProblem& problem, const SparseValues& values,
                                        Jitter& jitter, SweepGradient* gradient = nullptr,
                                        GaussianRowGradient* rows = nullptr,
                                        KeptPsi2* kept = nullptr);

}  // namespace covary
