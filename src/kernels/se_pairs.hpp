#pragma once

#include "kernels/gaussian_pair.hpp"

namespace covary {

// Ψ2 of a term with no linear factor, and its pullback, by products: for a pair p = (k ≥ j) with
// middle z̄ = ½(z_k + z_j),
//   log Ψ2_i(p) = [log σ⁴ − ½Σ log C − Σ aμ²] + Σ 2aμ·z̄ − Σ a·z̄² − ¼Σ w(z_k − z_j)²,
//   C = 1 + 2wS, a = w/C,
// is an inner product of what the row has with what the pair has. Pairs and inputs are counted from
// the middle of Z, and where the squares would still be so large that their differences lose
// digits, holds() is false.
class SePairs {
 public:
  SePairs(const TermValues& term, const RowBlock& Z);

  bool holds(const GaussianBlock& x) const;
  void psi2(const GaussianBlock& x, MatrixOut sum);
  void pullback(const GaussianBlock& x, ConstMatrix bar, TermBars& term_bar,
                const GaussianBars& to);

 private:
  // Ψ2 of rows first … first+n−1 into values_, a pair a row.
  void evaluate(const GaussianBlock& x, Index first, Index n);

  const TermValues& term_;
  const RowBlock Z_;
  Index D_, M_, pairs_, width_;  // width: rows at a time
  Vector centre_;
  double spread_;    // Σ w (z − centre)² of the furthest
  Matrix of_pairs_;  // pairs × (2D + 2): z̄, z̄², 1, −¼Σw(z_k − z_j)²
  Matrix of_rows_;   // (2D + 2) × width: 2aμ, −a, constant, 1
  Matrix values_;    // pairs × width
};

}  // namespace covary
