#pragma once

#include <vector>

#include "covary/statistics/weighted.hpp"

namespace covary {

// Statistics of groups of rows (PITC): the residual covariance within a group is kept, so its
// weight is the inverse of a dense block D_g = K_gg − A_gᵀA_g + diag(s). Groups are whole ranges of
// rows, told by the first row of each; with groups of one row this is FITC. The cost of a group of
// g rows is that of M²g + Mg² + g³.

// Blocks of whole groups, of about the size that suits M features.
Sweep group_sweep(const RowSource& rows, const std::vector<Index>& group_starts, Index M);

// As weighted_statistics, with C = Σ_g A D⁻¹Aᵀ, beta = Σ A D⁻¹r, rr = Σ rᵀD⁻¹r and
// log_w = −Σ log|D_g|. The blocks of the sweep must be made of whole groups.
std::vector<WeightedStatistics> group_statistics(const SweepContext& c,
                                                 const std::vector<Index>& group_starts,
                                                 const Sweep& sweep,
                                                 const std::vector<std::vector<Index>>& columns);

// As weighted_adjoint for a rule without a term: `residual` becomes Σ_g A D̄ Aᵀ.
void group_adjoint(const SweepContext& c, const std::vector<Index>& group_starts,
                   const Sweep& sweep, const std::vector<WeightedAdjoint>& adjoints,
                   SweepGradient& out);

}  // namespace covary
