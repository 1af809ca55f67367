#pragma once

#include <vector>

#include "kernels/se_rows.hpp"
#include "kernels/simd/pair_loops.hpp"

namespace covary {

// Ψ2 of a term with no linear factor, and its pullback: of rows and the pairs p = (k ≥ j) of
// inducing inputs,
//   log Ψ2_i(p) = log σ⁴ + e_ik + e_ij − ½Σ a_i·z_k·z_j − ¼Σ w(z_k − z_j)²
// with e and a of SeRows (κ = 2). Pairs go by chunks that the nearest cache holds, rows by fours.
class SePairs {
 public:
  SePairs(const TermValues& term, const RowBlock& Z);

  bool holds(const GaussianBlock& x) const { return rows_.holds(x); }
  // Doubles that Ψ2 of a row are.
  Index row_values() const { return padded_; }
  // Adds to the lower triangle; Ψ2 of each row goes to `keep` too, unless it is null.
  void psi2(const GaussianBlock& x, MatrixOut sum, double* keep);
  // `kept` is what psi2() of the same rows kept; null if it did not.
  void pullback(const GaussianBlock& x, ConstMatrix bar, TermBars& term_bar, const GaussianBars& to,
                const double* kept);

 private:
  struct Loops;
  struct Chunk {
    Index first, n;  // pairs
    std::size_t run, runs;
  };
  static const Loops& loops();
  simd::PairChunk view(std::size_t chunk) const;
  // Those of four rows, or as many as there are, which it returns.
  Index slopes_of(Index first_row);
  // Ψ2 of a chunk and four rows, or as many as there are, which it returns; others are zero.
  Index values_of(const simd::PairChunk& chunk, Index first_row);
  // The same from what was kept.
  Index kept_values(const simd::PairChunk& chunk, Index first_row, const double* kept);

  const Loops& loops_;
  const TermValues& term_;
  SeRows rows_;
  Index D_, M_, capacity_, padded_ = 0;
  std::vector<simd::PairRun> runs_;
  std::vector<Chunk> chunks_;
  Matrix features_, offsets_;  // capacity × (D·chunks) and capacity × chunks
  Matrix values_, slopes_;     // of four rows: capacity × 4 and 4 × D
};

}  // namespace covary
