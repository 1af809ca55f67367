#pragma once

#include <vector>

#include "covary/kernels/kernel.hpp"

namespace covary {

struct GreedyVariance {
  std::vector<Index> rows;  // in the order chosen
  double residual = 0.0;    // Σ_n k_nn − q_nn
};

// Partial Cholesky of Kff, pivoted by the largest conditional variance. Stops before M rows when
// none is left above `smallest_variance` of the largest k_nn.
GreedyVariance greedy_variance(const Kernel& kernel, ConstVector theta, ConstRows X, Index M);

// Conditional variances are differences with a rounding error near M·1e-16 of k_nn. Above this
// limit they mean something, up to thousands of inputs, and Kuu can be factored without jitter.
constexpr double smallest_variance = 1e-12;

// The largest k_nn of the smooth part. Throws where it is not finite, or zero: then there is
// nothing for inducing inputs to explain.
double largest_smooth_variance(const Kernel& kernel, const Vector& diagonal);

}  // namespace covary
