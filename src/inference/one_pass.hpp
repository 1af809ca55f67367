#pragma once

#include "covary/inference/sparse.hpp"
#include "statistics/one_pass.hpp"

namespace covary {

// Whether an approximation asks nothing of a row but what sums over them say: one weight for all.
bool takes_one_pass(const Approximation& approximation);

// evaluate_sparse() from sums over the rows, which are not read again: O(M³) whatever their number,
// of which Kuu, a diagonal with few rank-one terms, has no part. problem.sweep and problem.columns
// are not used. Without a gradient Luu and the factors of q(u) are formed too; with one they are
// left empty, and its z_bar is zero: z is held.
SparseEvaluation evaluate_one_pass(const SparseProblem& problem, const OnePassStatistics& rows,
                                   const SparseValues& values, const Jitter& jitter,
                                   SweepGradient* gradient = nullptr);

}  // namespace covary
