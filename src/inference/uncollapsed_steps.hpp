#pragma once

#include "covary/inference/uncollapsed.hpp"

namespace covary {

// evaluate_uncollapsed() in two steps, for those who move q alone.
std::vector<Cholesky> factor_parts(const UncollapsedProblem& problem,
                                   const UncollapsedValues& values, Jitter& jitter);
UncollapsedEvaluation evaluate_uncollapsed(const UncollapsedProblem& problem,
                                           const UncollapsedValues& values,
                                           std::vector<Cholesky> factors,
                                           UncollapsedGradient* gradient = nullptr);

}  // namespace covary
