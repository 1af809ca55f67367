#pragma once

#include <optional>

#include "covary/features/one_pass.hpp"
#include "covary/kernels/mean.hpp"
#include "covary/statistics/sweep.hpp"

namespace covary {

// All that regression with one noise variance asks of the rows while the features' z is held.
struct OnePassStatistics {
  Vector z;          // for which they are
  FeatureSums sums;  // with T = [basis of the mean function, outputs]
  Matrix TT;         // Σ t tᵀ
  double rows = 0.0;
};

// One pass over the rows, of which those without outputs are left out. Empty where it will not do:
// for features without the capability, rows outside their region, a noise variance of each row, or
// outputs that are missing one by one.
std::optional<OnePassStatistics> one_pass_statistics(const Features& features, ConstVector z,
                                                     const Mean& mean, const RowSource& rows);

}  // namespace covary
