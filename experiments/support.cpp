#include "support.hpp"

#include <fmt/format.h>

#include <cmath>

namespace covary::experiments {

double sample_sd(ConstVector values) {
  const double mean = values.mean();
  return std::sqrt((values.array() - mean).square().sum() / static_cast<double>(values.size() - 1));
}

std::string mean_sd(ConstVector values, int decimals) {
  if (values.size() == 1) return fmt::format("{:.{}f}", values(0), decimals);
  return fmt::format("{:.{}f} ± {:.{}f}", values.mean(), decimals, sample_sd(values), decimals);
}

RowMatrix inputs(ConstVector x) { return x; }

ExactPosterior condition_on(const Kernel& kernel, ConstVector x, ConstVector y,
                            double noise_variance) {
  return ExactPosterior({.kernel = kernel,
                         .theta = kernel.parameters(1).values(),
                         .mean = {},
                         .mean_weights = {},
                         .noise_variance = noise_variance,
                         .point_noise = {},
                         .jitter = 0.0,
                         .X = inputs(x),
                         .Y = inputs(y)});
}

Matrix prior_covariance(const Kernel& kernel, ConstVector x) {
  return gram(kernel, kernel.parameters(1).values(), inputs(x));
}

Matrix prior_draws(const Kernel& kernel, ConstVector x, Index draws, std::uint64_t seed) {
  return sample_prior(kernel, kernel.parameters(1).values(), inputs(x), draws, seed);
}

}  // namespace covary::experiments
