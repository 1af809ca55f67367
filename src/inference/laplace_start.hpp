#pragma once

#include "inference/function_problem.hpp"

namespace covary {

// A start for Newton's method on log p(y | f) + log N(f; m, K), f = m + K·a, of a log-concave
// likelihood: the best a that is zero but for every `thinning`-th row. In that space a Newton step
// takes N³/thinning² flops, and where the kernel is smooth its best f is close to the mode. Zero
// where there are too few rows for that to pay.
Vector laplace_start(const FunctionProblem& problem, Index thinning = 8);

}  // namespace covary
