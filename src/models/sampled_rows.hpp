#pragma once

#include <span>

#include "covary/statistics/expectations.hpp"
#include "covary/statistics/row_terms.hpp"

namespace covary {

// Fixed standard normal deviates of rows, by their numbers: draws × Q for each, one below the
// other, in pairs ±ε.
RowMatrix row_deviates(std::span<const Index> rows, Index Q, Index draws, std::uint64_t seed);

// row_terms() of any likelihood over rows whose inputs are N(mean, diag(variance)): the mean over
// the points mean + √variance·ε of each row, which is a bound of that rule. Y: n×P, a function for
// each column. `rows`, unless null, becomes the gradient by the inputs' distributions, with all
// adjoints.
struct SampledRows {
  const RowMatrix &mean, &variance, &Y;  // n×Q, n×Q, n×P
  const RowMatrix& deviates;
};
RowTermSums sampled_row_terms(std::span<const SweepContext> contexts,
                              const RowLikelihood& likelihood, const WhitenedGaussian& q,
                              const SampledRows& of, RowAdjoints adjoints,
                              GaussianRowGradient* rows = nullptr);

}  // namespace covary
