#include "covary/linalg/low_rank_diagonal.hpp"

#include <fmt/format.h>

#include "covary/error.hpp"
#include "covary/linalg/blas.hpp"
#include "covary/linalg/cholesky.hpp"

namespace covary {

Matrix LowRankDiagonal::dense() const {
  Matrix out = product(U, U, Op::none, Op::transpose);
  mirror_lower(out);
  out.diagonal() += d;
  return out;
}

Matrix LowRankDiagonal::times(ConstMatrix B) const {
  Matrix out = d.asDiagonal() * B;
  gemm(1.0, U, Op::none, product(U, B, Op::transpose), Op::none, 1.0, out);
  return out;
}

LowRankDiagonal LowRankDiagonal::pullback(ConstMatrix whole_bar) const {
  return {whole_bar.diagonal(), 2.0 * product(whole_bar, U)};
}

// With C = I + UᵀD⁻¹U = LLᵀ: A⁻¹ = D⁻¹ − VVᵀ for V = D⁻¹U·L⁻ᵀ, and |A| = |D|·|C|.
LowRankInverse::LowRankInverse(const LowRankDiagonal& A) : e(A.d.cwiseInverse()) {
  for (Index i = 0; i < A.size(); ++i)
    if (!(A.d(i) > 0.0))
      throw NumericalError(
          fmt::format("a diagonal with {} at place {} is not positive", A.d(i), i));
  V = e.asDiagonal() * A.U;
  Matrix C = product(A.U, V, Op::transpose);
  C.diagonal().array() += 1.0;
  const Cholesky factor = cholesky(std::move(C), "I + UᵀD⁻¹U");
  solve_lower_right(factor.L, V, Op::transpose);
  log_determinant = A.d.array().log().sum() + factor.log_determinant();
}

Matrix LowRankInverse::solve(ConstMatrix B) const {
  Matrix out = e.asDiagonal() * B;
  gemm(-1.0, V, Op::none, product(V, B, Op::transpose), Op::none, 1.0, out);
  return out;
}

Vector LowRankInverse::diagonal() const { return e - V.rowwise().squaredNorm(); }

double LowRankInverse::trace_of(ConstMatrix S) const {
  return e.dot(S.diagonal()) - frobenius(V, product(S, V));
}

Vector LowRankInverse::diagonal_around(ConstMatrix S) const {
  const Matrix SV = product(S, V), inner = product(V, SV, Op::transpose);
  return (e.array().square() * S.diagonal().array()).matrix() -
         2.0 * e.cwiseProduct(V.cwiseProduct(SV).rowwise().sum()) +
         V.cwiseProduct(product(V, inner)).rowwise().sum();
}

}  // namespace covary
