#pragma once

#include <cstdint>
#include <vector>

#include "covary/inference/sparse.hpp"
#include "statistics/group.hpp"

namespace covary {

// PITC (Quiñonero-Candela & Rasmussen 2005): log N(y; 0, Qff + blockdiag(Kff − Qff) + Σ) with one
// block for each group of rows. One group is the exact evidence, groups of one row are FITC. The
// rows lie in the order of the groups, `group_starts` is the first row of each, and problem.sweep
// is made of whole groups: group_sweep(). Not a bound: like FITC it is another model.
SparseEvaluation evaluate_pitc(const SparseProblem& problem, const std::vector<Index>& group_starts,
                               const SparseValues& values, Jitter& jitter,
                               SweepGradient* gradient = nullptr);

// Rows near one another into groups, by k-means of X: the row numbers, group after group, and in
// `starts` where each begins. Groups without a row are left out, so there may be fewer.
std::vector<Index> order_by_cluster(ConstRows X, Index groups, std::uint64_t seed,
                                    std::vector<Index>& starts);

}  // namespace covary
