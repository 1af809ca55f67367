#pragma once

#include "covary/linalg/types.hpp"

namespace covary {

// The symmetric matrix diag(d) + U·Uᵀ with U of few columns, which is never formed where a solve,
// a product or a trace will do: each costs O(n·r) a column.
struct LowRankDiagonal {
  Vector d;  // n
  Matrix U;  // n×r

  Index size() const { return d.size(); }
  Matrix dense() const;
  Matrix times(ConstMatrix B) const;
  // The adjoint of a symmetric adjoint of the whole: d̄ is its diagonal and Ū = 2·Ā·U.
  LowRankDiagonal pullback(ConstMatrix whole_bar) const;
};

// Its inverse diag(e) − V·Vᵀ, by the identity of Woodbury.
class LowRankInverse {
 public:
  // NumericalError unless all of d is positive.
  explicit LowRankInverse(const LowRankDiagonal& A);

  Vector e;                      // n
  Matrix V;                      // n×r
  double log_determinant = 0.0;  // of A

  Matrix solve(ConstMatrix B) const;  // A⁻¹B
  Vector diagonal() const;            // of A⁻¹
  // For a symmetric S, both triangles: tr(A⁻¹S), and the diagonal of A⁻¹SA⁻¹, in O(n²·r).
  double trace_of(ConstMatrix S) const;
  Vector diagonal_around(ConstMatrix S) const;
};

}  // namespace covary
