#include "covary/linalg/low_rank_diagonal.hpp"

#include <gtest/gtest.h>

#include "covary/error.hpp"
#include "covary/linalg/cholesky.hpp"

namespace covary {
namespace {

LowRankDiagonal example() {
  LowRankDiagonal A{Vector::LinSpaced(7, 0.3, 40.0), Matrix(7, 2)};
  for (Index i = 0; i < 7; ++i) A.U.row(i) << std::sin(1.0 + i), 0.3 * i;
  return A;
}

TEST(LowRankDiagonal, AgreesWithTheDenseMatrix) {
  const LowRankDiagonal A = example();
  const Matrix dense = A.dense(), inverse = cholesky(dense).inverse();
  EXPECT_LT((dense - A.U * A.U.transpose() - Matrix(A.d.asDiagonal())).norm(), 1e-13);
  Matrix B(7, 3), S(7, 7);
  for (Index i = 0; i < B.size(); ++i) B.data()[i] = std::cos(0.7 * i);
  for (Index i = 0; i < S.size(); ++i) S.data()[i] = std::cos(0.3 * i * i);
  S = Matrix(S + S.transpose());
  const LowRankInverse woodbury(A);
  EXPECT_LT((A.times(B) - dense * B).norm(), 1e-12);
  EXPECT_LT((woodbury.solve(B) - inverse * B).norm(), 1e-12);
  EXPECT_LT((woodbury.diagonal() - inverse.diagonal()).norm(), 1e-13);
  EXPECT_NEAR(woodbury.log_determinant, cholesky(dense).log_determinant(), 1e-12);
  EXPECT_NEAR(woodbury.trace_of(S), (inverse * S).trace(), 1e-12);
  EXPECT_LT((woodbury.diagonal_around(S) - (inverse * S * inverse).diagonal()).norm(), 1e-12);
}

// ⟨S, A(d, U)⟩ is linear in d and quadratic in U: central differences are exact.
TEST(LowRankDiagonal, Pullback) {
  const LowRankDiagonal A = example();
  Matrix S = Matrix::Identity(7, 7);
  S(2, 3) = S(3, 2) = 0.7;
  const LowRankDiagonal bar = A.pullback(S);
  const auto value = [&](const LowRankDiagonal& at) { return at.dense().cwiseProduct(S).sum(); };
  for (Index i = 0; i < 7; ++i)
    for (Index j = 0; j < 3; ++j) {
      LowRankDiagonal up = A, down = A;
      (j == 2 ? up.d(i) : up.U(i, j)) += 0.1;
      (j == 2 ? down.d(i) : down.U(i, j)) -= 0.1;
      EXPECT_NEAR((value(up) - value(down)) / 0.2, j == 2 ? bar.d(i) : bar.U(i, j), 1e-10);
    }
}

TEST(LowRankDiagonal, RefusesADiagonalThatIsNotPositive) {
  LowRankDiagonal A = example();
  A.d(4) = 0.0;
  EXPECT_THROW(LowRankInverse{A}, NumericalError);
}

}  // namespace
}  // namespace covary
