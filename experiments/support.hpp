#pragma once

#include <string>

#include "covary/inference/exact_posterior.hpp"

namespace covary::experiments {

// "0.873 ± 0.121": the mean and the standard deviation of repetitions; of one, the value alone.
std::string mean_sd(ConstVector values, int decimals = 3);
double sample_sd(ConstVector values);  // with n − 1

// A column of one-dimensional inputs.
RowMatrix inputs(ConstVector x);

// A zero-mean GP with the kernel's own starts as its parameters, conditioned on y.
ExactPosterior condition_on(const Kernel& kernel, ConstVector x, ConstVector y,
                            double noise_variance);
// The same prior at x, before any data.
Matrix prior_covariance(const Kernel& kernel, ConstVector x);
Matrix prior_draws(const Kernel& kernel, ConstVector x, Index draws, std::uint64_t seed);

}  // namespace covary::experiments
