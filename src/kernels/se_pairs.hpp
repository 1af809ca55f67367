#pragma once

#include <vector>

#include "kernels/se_rows.hpp"
#include "linalg/aligned.hpp"

namespace covary {

// Ψ2 of a term with no linear factor, and its pullback: of rows and the pairs p = (k ≥ j) of
// inducing inputs,
//   log Ψ2_i(p) = log σ⁴ + e_ik + e_ij − ½Σ a_i·z_k·z_j − ¼Σ w(z_k − z_j)²
// with e and a of SeRows (κ = 2). Pairs go by chunks that the nearest cache holds, rows by groups
// that vectors are of; a row that is not there has Ψ2 = 0.
class SePairs {
 public:
  SePairs(const TermValues& term, const RowBlock& Z);

  bool holds(const GaussianBlock& x) const { return rows_.holds(x); }
  // Doubles that Ψ2 of a row are.
  Index row_values() const { return static_cast<Index>(pairs_.size()); }
  // Adds to the lower triangle; Ψ2/σ⁴ of full groups of rows go to `keep` too, unless it is null.
  void psi2(const GaussianBlock& x, MatrixOut sum, double* keep);
  // `kept` is what psi2() of the same rows kept; null if it did not.
  void pullback(const GaussianBlock& x, ConstMatrix bar, TermBars& term_bar, const GaussianBars& to,
                const double* kept);

 private:
  // Pairs from `first` on.
  simd::PairChunk chunk(Index first) const;
  // What the entries of a symmetric bar that a pair stands for add up to, times σ⁴.
  void weigh(const simd::PairChunk& c, ConstMatrix bar);

  const PairLoops& loops_;
  const TermValues& term_;
  SeRows rows_;
  Index D_;
  std::vector<simd::Pair> pairs_;     // and some that stand for nothing, to whole tiles
  AlignedDoubles features_, offset_;  // of pairs
  AlignedDoubles values_, weight_, weighted_, sums_, total_;  // of a chunk
  AlignedDoubles slopes_bar_, ends_bar_;                      // of groups of rows
};

}  // namespace covary
