#pragma once

#include <cstdint>
#include <vector>

#include "covary/kernels/kernel.hpp"

namespace covary {

// Ridge leverage scores l_n = (K(K + λI)⁻¹)_nn of the smooth part of a kernel, white noise left
// out: how much of row n no other row explains, to a ridge λ at which they sum to about M. K is
// N×N; pilot rows p stand for it, each for as many rows as the inverse of the probability π_p with
// which it became one:
//   l_n ≈ (k_nn − k_nᵀ(Kpp + λ·diag π)⁻¹k_n)/λ, at most 1.
// This is exact where all rows are pilots (π = 1). Else pilots are drawn twice, about as many as
// asked for: evenly, and then by the scores that the first ones gave (Musco & Musco 2017).
struct LeverageScores {
  Vector scores;
  double ridge = 0.0;  // λ
  Index pilots = 0;
};
LeverageScores leverage_scores(const Kernel& kernel, ConstVector theta, ConstRows X, Index M,
                               Index pilots, std::uint64_t seed);

// As many pilots as an effective dimension of M needs: the scores then cost 8·N·M².
Index leverage_pilots(Index N, Index M);

// All rows, those first that a draw in proportion to the scores would draw first, without
// replacement (Efraimidis & Spirakis 2006).
std::vector<Index> order_by_draws(const Vector& scores, std::uint64_t seed);

}  // namespace covary
