#pragma once

#include <cstdint>

#include "covary/features/selection.hpp"
#include "covary/inference/sparse.hpp"

namespace covary {

// What one more inducing input u⁺ = f(z), at each row z of `candidates` (J×D), would bring, all
// else held. Let b_n be the part of k(x_n, z) that the present inducing variables do not give, over
// √κ with κ their conditional variance of u⁺: then Qff grows by bbᵀ. From three sums over the data
// a candidate's score is O(1); the sums are one sweep of O(N·M) a candidate and never N×N. A
// candidate whose κ is within the jitter or the rounding coincides with what is there, and scores
// zero.
//
// The gain of the VFE bound, exactly (thesis App. B): never negative. With S = (Qff + G)⁻¹,
//   ½·(bᵀG⁻¹b − log(1 + bᵀSb) + (yᵀSb)²/(1 + bᵀSb)), summed over the outputs.
// Any features will do; any other approximation than vfe is refused, for its rows change as well.
Vector bound_gains(const SparseProblem& problem, const SparseValues& values, Jitter& jitter,
                   ConstRows candidates);

// The information gain of DTC (Seeger, Williams & Lawrence 2003): KL(q⁺‖q) between the posterior
// processes after and before the inclusion. Theirs leaves out some couplings to be cheaper; this is
// the whole of it. VFE and SoR have the same q(u), so the problem's approximation does not matter.
Vector information_gains(const SparseProblem& problem, const SparseValues& values, Jitter& jitter,
                         ConstRows candidates);

// The problem's inducing points, or none, and up to n more, each the best by bound_gains() of
// `sample` rows drawn anew from the data; with 256 it is among the best hundredth of all rows 92
// times in 100. Fewer where no row of a sample would raise the bound. O(N·M·(M + sample)) a point.
RowMatrix grow_by_gain(const SparseProblem& problem, const SparseValues& values, Jitter& jitter,
                       Index n, std::uint64_t seed, Index sample = 256);

// At most M rows of the data by information_gains(), from none: the problem's features and values.z
// are not looked at.
RowMatrix select_information_gain(const SparseProblem& problem, const SparseValues& values,
                                  Jitter& jitter, Index M, std::uint64_t seed, Index sample = 256);

// At most M of them by the bound_gain or the information_gain, for a problem of vfe without
// features: the note says so where there are fewer.
SelectionResult select_by_gain(Selection how, Index M, const SparseProblem& problem,
                               const SparseValues& values, Jitter& jitter, std::uint64_t seed);

}  // namespace covary
