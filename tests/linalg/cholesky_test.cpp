#include "covary/linalg/cholesky.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>

#include "covary/error.hpp"
#include "linalg/naive.hpp"

namespace covary {
namespace {

const double nan = std::numeric_limits<double>::quiet_NaN();
const double inf = std::numeric_limits<double>::infinity();

// The definition, column by column.
Matrix naive_cholesky(const Matrix& A) {
  const Index n = A.rows();
  Matrix L = Matrix::Zero(n, n);
  for (Index j = 0; j < n; ++j) {
    for (Index i = j; i < n; ++i) L(i, j) = A(i, j);
    for (Index k = 0; k < j; ++k) {
      const double *from = L.data() + k * n, factor = L(j, k);
      double* to = L.data() + j * n;
      for (Index i = j; i < n; ++i) to[i] -= from[i] * factor;
    }
    const double pivot = std::sqrt(L(j, j));
    for (Index i = j; i < n; ++i) L(i, j) /= pivot;
  }
  return L;
}

// Unit variances with one correlation for a pair: the eigenvalues are 1 ± correlation.
Matrix pair(double correlation) {
  Matrix A = Matrix::Identity(2, 2);
  A(0, 1) = A(1, 0) = correlation;
  return A;
}

std::string message_of(const std::function<void()>& f) {
  try {
    f();
  } catch (const NumericalError& e) {
    return e.what();
  }
  return "no NumericalError";
}

bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

// On both sides of the blocks of the factorisation.
class CholeskySizes : public testing::TestWithParam<Index> {
 protected:
  const Index n_ = GetParam();
  const Matrix A_ = random_covariance(n_, 11);
  const double tolerance_ = 1e-14 * static_cast<double>(n_ + 10);
  WithThreads threads_{3};
};

TEST_P(CholeskySizes, FactorLogDeterminantSolveInverse) {
  const Matrix L = naive_cholesky(A_);
  const Cholesky factor = cholesky(A_, "A");
  EXPECT_LE(largest_difference(factor.L, L), tolerance_);
  EXPECT_EQ(factor.jitter, 0.0);
  EXPECT_EQ(factor.size(), n_);
  double log_determinant = 0.0;
  for (Index i = 0; i < n_; ++i) log_determinant += 2.0 * std::log(L(i, i));
  EXPECT_NEAR(factor.log_determinant(), log_determinant, tolerance_ * static_cast<double>(n_));
  const Matrix B = random_matrix(n_, 3, 5);
  EXPECT_LE(largest_difference(naive_product(A_, factor.solve(B)), B), 10 * tolerance_);
  const Matrix inverse = factor.inverse();
  EXPECT_TRUE(inverse == inverse.transpose());
  EXPECT_LE(largest_difference(naive_product(A_, inverse), Matrix::Identity(n_, n_)),
            10 * tolerance_);
}

TEST_P(CholeskySizes, ReadsTheLowerTriangleOnly) {
  Matrix A = A_;
  for (Index j = 0; j < n_; ++j)
    for (Index i = 0; i < j; ++i) A(i, j) = nan;
  EXPECT_TRUE(cholesky(A).L == cholesky(A_).L);
}

TEST_P(CholeskySizes, SameBitsForAnyNumberOfThreads) {
  set_threads(1);
  const Cholesky reference = cholesky(A_);
  const Matrix inverse = reference.inverse();
  for (const int t : {2, 3, 7}) {
    set_threads(t);
    const Cholesky factor = cholesky(A_);
    EXPECT_TRUE(factor.L == reference.L) << t << " threads";
    EXPECT_TRUE(factor.inverse() == inverse) << t << " threads";
  }
}

TEST_P(CholeskySizes, InPlaceOnABlockOfALargerMatrix) {
  Matrix large = Matrix::Constant(n_ + 5, n_ + 4, 7.0);
  auto block = large.block(2, 3, n_, n_);
  int fills = 0;
  Jitter jitter;
  cholesky_in_place(
      block, [&] { block = A_, ++fills; }, jitter, "A");
  EXPECT_EQ(fills, 1);
  EXPECT_LE(largest_difference(lower_part(block), naive_cholesky(A_)), tolerance_);
  EXPECT_NEAR(log_determinant_of_factor(block), cholesky(A_).log_determinant(), tolerance_);
  inverse_in_place(block);
  EXPECT_LE(largest_difference(lower_part(block), lower_part(cholesky(A_).inverse())), tolerance_);
  EXPECT_TRUE((large.topRows(2).array() == 7.0).all());
  EXPECT_TRUE((large.leftCols(3).array() == 7.0).all());
  EXPECT_TRUE((large.bottomRows(3).array() == 7.0).all());
  EXPECT_TRUE((large.rightCols(1).array() == 7.0).all());
}

TEST_P(CholeskySizes, InvertsATriangleInPlace) {
  const Matrix L = cholesky(A_).L;
  Matrix inverse = L;
  invert_lower_in_place(inverse);
  EXPECT_LE(largest_difference(naive_product(L, lower_part(inverse)), Matrix::Identity(n_, n_)),
            10 * tolerance_);
}

TEST_P(CholeskySizes, RankOneUpdateAndDowndate) {
  const Vector v = random_matrix(n_, 1, 3);
  Matrix L = cholesky(A_).L;
  rank_one_update(L, v);
  EXPECT_LE(largest_difference(L, naive_cholesky(A_ + v * v.transpose())), 10 * tolerance_);
  rank_one_update(L, v, -1.0);
  EXPECT_LE(largest_difference(L, naive_cholesky(A_)), 100 * tolerance_);
}

TEST_P(CholeskySizes, AppendedRowsEqualTheFactorOfTheWhole) {
  for (const Index m : {Index(0), Index(1), n_ / 2}) {
    const Index n = n_ - m;
    if (n < 0) continue;
    Jitter jitter;
    const Cholesky part = cholesky(A_.topLeftCorner(n, n));
    const Cholesky whole =
        append_rows(part, A_.bottomLeftCorner(m, n), A_.bottomRightCorner(m, m), jitter, "A");
    EXPECT_LE(largest_difference(whole.L, naive_cholesky(A_)), tolerance_) << m << " rows";
    EXPECT_EQ(whole.jitter, 0.0);
    EXPECT_FALSE(jitter.raised);
  }
}

INSTANTIATE_TEST_SUITE_P(Sizes, CholeskySizes,
                         testing::Values<Index>(1, 2, 5, 63, 127, 129, 193, 289, 385, 517, 599));

TEST(CholeskyEmpty, HasADeterminantOfOne) {
  const Cholesky factor = cholesky(Matrix(0, 0));
  EXPECT_EQ(factor.log_determinant(), 0.0);
  testing::internal::CaptureStderr();
  testing::internal::CaptureStdout();
  EXPECT_EQ(factor.inverse().size(), 0);
  EXPECT_EQ(factor.solve(Matrix(0, 2)).cols(), 2);
  EXPECT_EQ(factor.condition_estimate(), 1.0);
  EXPECT_EQ(testing::internal::GetCapturedStdout() + testing::internal::GetCapturedStderr(), "")
      << "LAPACK complained";
}

TEST(JitterLadder, StaysAtZeroWhereNoneIsNeeded) {
  Jitter jitter;
  const Cholesky factor = cholesky(pair(0.9), jitter, "K");
  EXPECT_EQ(factor.jitter, 0.0);
  EXPECT_EQ(jitter.added, 0.0);
  EXPECT_EQ(jitter.rung, 0.0);
  EXPECT_FALSE(jitter.raised);
}

TEST(JitterLadder, ClimbsToTheFirstRungThatWillDo) {
  // λmin is −3e-9 of the mean diagonal, whatever the scale: 1e-8 is the first rung above that.
  for (const double scale : {1e-6, 1.0, 1e6}) {
    Jitter jitter;
    const Matrix A = scale * pair(1.0 + 3e-9);
    const Cholesky factor = cholesky(A, jitter, "K");
    EXPECT_NEAR(jitter.rung, 1e-8, 1e-20);
    EXPECT_NEAR(jitter.added, 1e-8 * scale, 1e-20 * scale);
    EXPECT_EQ(factor.jitter, jitter.added);
    EXPECT_TRUE(jitter.raised);
    Matrix shifted = A;
    shifted.diagonal().array() += jitter.added;
    EXPECT_LE(largest_difference(naive_product(factor.L, factor.L.transpose()), shifted),
              1e-15 * scale);
  }
}

TEST(JitterLadder, CoincidentRowsTakeTheFirstRung) {
  Jitter jitter;
  Matrix A = random_covariance(6, 3);
  A.row(4) = A.row(1);
  A.col(4) = A.col(1);
  const Cholesky factor = cholesky(A, jitter, "K");
  EXPECT_LE(jitter.rung, 1e-11);
  EXPECT_TRUE(factor.L.allFinite());
}

TEST(JitterLadder, AskedIsAbsoluteAndAlwaysAdded) {
  Jitter jitter{1e-3};
  const Cholesky factor = cholesky(100.0 * pair(0.5), jitter, "K");
  EXPECT_EQ(factor.jitter, 1e-3);
  EXPECT_EQ(jitter.rung, 0.0);
  EXPECT_FALSE(jitter.raised);
  EXPECT_NEAR(factor.L(0, 0), std::sqrt(100.0 + 1e-3), 1e-14);
  // a rung beneath what was asked would change nothing: the ladder starts above it
  Jitter more{1e-7};
  EXPECT_NEAR(cholesky(pair(1.0 + 3e-6), more, "K").jitter, 1e-5, 1e-17);
  EXPECT_NEAR(more.rung, 1e-5, 1e-17);
  EXPECT_EQ(more.asked, 1e-7);
}

TEST(JitterLadder, TheRungOnlyRises) {
  Jitter jitter;
  cholesky(pair(1.0 + 3e-9), jitter, "K");
  jitter.raised = false;
  const Cholesky good = cholesky(pair(0.0), jitter, "K");
  EXPECT_NEAR(good.jitter, 1e-8, 1e-20);
  EXPECT_FALSE(jitter.raised);
  cholesky(pair(1.0 + 3e-6), jitter, "K");
  EXPECT_NEAR(jitter.rung, 1e-5, 1e-17);
  EXPECT_TRUE(jitter.raised);
}

TEST(JitterLadder, FillsAgainAtEachRung) {
  Matrix A(2, 2);
  const Matrix source = pair(1.0 + 3e-11);
  int fills = 0;
  Jitter jitter;
  const auto fill = [&] {
    A = source;
    ++fills;
  };
  cholesky_in_place(A, fill, jitter, "K");
  EXPECT_EQ(fills, 4);  // 0, 1e-12, 1e-11, 1e-10
  EXPECT_NEAR(A(0, 0), std::sqrt(1.0 + 1e-10), 1e-15);
}

TEST(JitterLadder, AnIndefiniteMatrixIsRefusedByNameWithItsRows) {
  Jitter jitter;
  Matrix A = Matrix::Identity(7, 7);
  A(5, 2) = A(2, 5) = 1.01;
  const std::string message = message_of([&] { cholesky(A, jitter, "Kuu"); });
  EXPECT_TRUE(has(message, "Kuu (7×7)")) << message;
  EXPECT_TRUE(has(message, "rows 2 and 5")) << message;
  // a refusal leaves no trace: inside an optimiser it is a rejected step
  EXPECT_EQ(jitter.rung, 0.0);
  EXPECT_FALSE(jitter.raised);

  // more rows agree than a covariance allows, though no two are the same
  Matrix B = Matrix::Constant(3, 3, -0.9);
  B.diagonal().setOnes();
  EXPECT_TRUE(has(message_of([&] { cholesky(B, "Kff"); }), "Kff"));
  EXPECT_TRUE(has(message_of([&] { cholesky(Matrix::Zero(2, 2), "Z"); }), "Z (2×2)"));
}

TEST(CholeskyBadInput, NotSquare) {
  try {
    cholesky(Matrix::Zero(3, 2), "Kuu");
    FAIL();
  } catch (const InputError& e) {
    EXPECT_TRUE(has(e.what(), "Kuu must be square, got 3×2")) << e.what();
  }
  Matrix A(3, 2);
  Jitter jitter;
  EXPECT_THROW(cholesky_in_place(
                   A, [] {}, jitter, "A"),
               InputError);
}

TEST(CholeskyBadInput, NotANumberOrNegativeOnTheDiagonal) {
  for (const double bad : {nan, inf, -inf, -1.0}) {
    Matrix A = Matrix::Identity(4, 4);
    A(2, 2) = bad;
    const std::string message = message_of([&] { cholesky(A, "Kff"); });
    EXPECT_TRUE(has(message, "Kff: diagonal entry 2")) << message;
  }
}

// LAPACK's factorisation lets not-a-number through.
TEST(CholeskyBadInput, NotANumberBesideTheDiagonal) {
  for (const Index n : {3, 250, 500})
    for (const double bad : {nan, inf}) {
      Matrix A = Matrix::Identity(n, n);
      A(n - 1, 1) = A(1, n - 1) = bad;
      const std::string message = message_of([&] { cholesky(A, "Kff"); });
      EXPECT_TRUE(has(message, "Kff") && has(message, "not finite")) << message;
    }
}

TEST(RankOneUpdate, BadInput) {
  Matrix L = cholesky(pair(0.5)).L;
  EXPECT_THROW(rank_one_update(L, Vector::Ones(3)), InputError);
  EXPECT_THROW(rank_one_update(L, Vector::Ones(2), 0.5), InputError);
  EXPECT_THROW(rank_one_update(L, Vector::Constant(2, 5.0), -1.0), NumericalError);
  Matrix again = cholesky(pair(0.5)).L;
  EXPECT_THROW(rank_one_update(again, Vector::Constant(2, nan)), NumericalError);
}

TEST(AppendRows, WhatWasAskedIsAddedOnce) {
  const Matrix A = random_covariance(9, 2);
  Jitter jitter{0.25};
  const Cholesky part = cholesky(A.topLeftCorner(6, 6), jitter, "A");
  const Cholesky whole =
      append_rows(part, A.bottomLeftCorner(3, 6), A.bottomRightCorner(3, 3), jitter, "A");
  Jitter asked{0.25};
  EXPECT_LE(largest_difference(whole.L, cholesky(A, asked, "A").L), 1e-14);
  EXPECT_EQ(whole.jitter, 0.25);
  EXPECT_EQ(jitter.added, 0.25);
}

// What is left of a repeated row is zero or, by rounding, less: the rungs are those of C.
TEST(AppendRows, ARepeatedRowClimbsTheLadder) {
  for (unsigned seed = 1; seed <= 20; ++seed) {
    const Matrix A = random_covariance(8, seed);
    Jitter jitter;
    const Cholesky whole = append_rows(cholesky(A), A.row(3), A.block(3, 3, 1, 1), jitter, "A");
    EXPECT_TRUE(whole.L.allFinite());
    EXPECT_GT(whole.L(8, 8), 0.0);
    EXPECT_LE(whole.jitter, 1e-10);
    EXPECT_EQ(jitter.raised, jitter.rung > 0.0);
  }
}

TEST(AppendRows, BadInput) {
  Jitter jitter;
  const Cholesky A = cholesky(pair(0.1));
  EXPECT_THROW(append_rows(A, Matrix::Zero(1, 3), Matrix::Ones(1, 1), jitter), InputError);
  EXPECT_THROW(append_rows(A, Matrix::Zero(1, 2), Matrix::Ones(2, 1), jitter), InputError);
  EXPECT_THROW(append_rows(A, Matrix::Zero(2, 2), Matrix::Ones(1, 1), jitter), InputError);
  const std::string message = message_of(
      [&] { append_rows(A, Matrix::Constant(1, 2, 3.0), Matrix::Ones(1, 1), jitter, "K"); });
  EXPECT_TRUE(has(message, "K (")) << message;
}

TEST(ConditionEstimate, OfDiagonalsAndNearSingularMatrices) {
  const Vector d = (Vector(4) << 1.0, 1e-3, 10.0, 1e3).finished();
  EXPECT_NEAR(cholesky(d.asDiagonal()).condition_estimate(), 1e6, 1e-3);
  EXPECT_NEAR(cholesky(pair(0.0)).condition_estimate(), 1.0, 1e-12);
  // (1 + ρ)/(1 − ρ)
  EXPECT_NEAR(cholesky(pair(1.0 - 1e-8)).condition_estimate(), 2e8, 1e2);
  for (const Index n : {10, 100}) {
    const Matrix A = random_covariance(n, 4);
    const auto norm = [](const Matrix& M) { return M.cwiseAbs().colwise().sum().maxCoeff(); };
    const double truth = norm(A) * norm(cholesky(A).inverse());
    const double estimate = cholesky(A).condition_estimate();
    EXPECT_LE(estimate, truth * (1.0 + 1e-10));
    EXPECT_GE(estimate, truth / 10.0);
  }
}

TEST(GramFactor, IsTriangularAndHasTheGram) {
  for (const Index n : {1, 5, 40}) {
    Matrix A(n + 3, n);
    for (Index j = 0; j < n; ++j)
      for (Index i = 0; i < n + 3; ++i) A(i, j) = std::sin(1.0 + 3.0 * i * i + 0.7 * j * i + j);
    const Matrix F = gram_factor(A);
    EXPECT_EQ(F.triangularView<Eigen::StrictlyUpper>().toDenseMatrix().norm(), 0.0);
    const Matrix gram = product(A, A, Op::transpose), got = product(F, F, Op::none, Op::transpose);
    EXPECT_LT((got - gram).norm(), 1e-13 * gram.norm());
  }
  EXPECT_EQ(gram_factor(Matrix(0, 0)).size(), 0);
  EXPECT_THROW(gram_factor(Matrix(2, 3)), InputError);
}

TEST(Cholesky, FactorOfTheInverse) {
  for (const Index n : {1, 2, 7, 200}) {
    Matrix P = random_covariance(n, 11);
    Matrix F;
    ASSERT_TRUE(factor_of_inverse(P, F));
    EXPECT_EQ(Matrix(F.triangularView<Eigen::StrictlyUpper>()).cwiseAbs().maxCoeff(), 0.0);
    const Matrix unit = naive_product(P, naive_product(F, F.transpose()));
    EXPECT_LT(largest_difference(unit, Matrix::Identity(n, n)), 1e-11 * P.norm());
    P(n / 2, n / 2) = -1.0;
    EXPECT_FALSE(factor_of_inverse(P, F));
  }
}

}  // namespace
}  // namespace covary
