#pragma once

#include "kernels/gaussian_pair.hpp"
#include "kernels/pair_loops.hpp"
#include "linalg/aligned.hpp"

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
  // Of all rows: slopes() of the dimensions and, from a group of rows on, exponents() of points.
  void evaluate(const GaussianBlock& x, Index first_group = 0);
  // Laid out as pair_loops.hpp says; whoever reads exponents() may write over them. A row that is
  // not there has exponents whose exponentials are zero.
  double* exponents() const { return exponents_.data(); }
  const double* slopes() const { return slopes_.data(); }
  static Index groups(const GaussianBlock& x);
  Index padded_points() const { return padded_; }
  // Where the k-th of so many things of row i is.
  static Index at(Index i, Index k, Index count) {
    return (i / simd::pair_rows * count + k) * simd::pair_rows + i % simd::pair_rows;
  }
  Index at_point(Index i, Index k) const { return at(i, k, padded_); }
  // z − middle, M×D.
  const RowMatrix& points() const { return points_; }

  // After evaluate() of the same rows: from ∂/∂exponents and, if not null, ∂/∂slopes beside.
  void pullback(const GaussianBlock& x, const double* exponents_bar, const double* slopes_bar,
                TermBars& term_bar, const GaussianBars& to);

 private:
  simd::PairChunk chunk() const {
    return {padded_, 2 * D_ + 1, nullptr, of_points_.data(), nullptr};
  }

  const PairLoops& loops_;
  const TermValues& term_;
  double kappa_;
  Index D_, M_, padded_;
  Vector centre_;
  double spread_;  // Σ w (z − centre)² of the furthest
  RowMatrix points_;
  RowMatrix of_points_;     // padded × (2D + 1): z', z'², 1
  AlignedDoubles of_rows_;  // 2D + 1 a row: 2aμ, −a, c/κ
  AlignedDoubles exponents_, slopes_, by_rows_;
};

}  // namespace covary
