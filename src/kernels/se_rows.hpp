#pragma once

#include "kernels/gaussian_pair.hpp"

namespace covary {

// What the expectations of a term with no linear factor have in common, for κ = 1 (ψ1) and κ = 2
// (Ψ2): with C = 1 + κwS and the slope a = ½κw/C, a row has the constant c = −Σ aμ² − ½Σ log C and,
// of every inducing input as z' = z/κ, the exponent
//   e_k = c/κ + Σ 2aμ·z'_k − Σ a·z'_k²,
// which is an inner product of what the row has with what the point has. It is all of log ψ1_k; of
// log Ψ2_kj it is the part e_k + e_j. Points and rows are counted from the middle of Z.
class SeRows {
 public:
  SeRows(const TermValues& term, const RowBlock& Z, double kappa);

  // Squares so large that their differences lose digits are not for here.
  bool holds(const GaussianBlock& x) const;
  // Of all rows: exponents() M×n and slopes() D×n.
  void evaluate(const GaussianBlock& x);
  const Matrix& exponents() const { return exponents_; }
  const Matrix& slopes() const { return slopes_; }
  // z − middle, M×D.
  const Matrix& points() const { return points_; }

  // After evaluate() of the same rows: from ∂/∂exponents (M×n) and, if not null, ∂/∂slopes beside
  // (D×n).
  void pullback(const GaussianBlock& x, ConstMatrix exponents_bar, const Matrix* slopes_bar,
                TermBars& term_bar, const GaussianBars& to);

 private:
  const TermValues& term_;
  double kappa_;
  Index D_, M_;
  Vector centre_;
  double spread_;  // Σ w (z − centre)² of the furthest
  Matrix points_;
  Matrix of_points_;  // M × (2D + 1): z', z'², 1
  Matrix of_rows_;    // (2D + 1) × n: 2aμ, −a, c/κ
  Matrix exponents_, slopes_;
};

}  // namespace covary
