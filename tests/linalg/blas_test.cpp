#include "covary/linalg/blas.hpp"

#include <gtest/gtest.h>

#include <array>
#include <limits>
#include <vector>

#include "linalg/naive.hpp"

namespace covary {
namespace {

const double nan = std::numeric_limits<double>::quiet_NaN();
constexpr std::array both{Op::none, Op::transpose};

Matrix apply(Op op, const Matrix& A) { return op == Op::none ? A : Matrix(A.transpose()); }

// Sizes on both sides of the tiles and of the threshold for threads.
class Blas : public testing::TestWithParam<Index> {
 protected:
  const Index n_ = GetParam();
  const double tolerance_ = 1e-14 * static_cast<double>(n_ + 10);
  WithThreads threads_{3};
};

TEST_P(Blas, Gemm) {
  const Index m = n_, k = n_ / 2 + 3, n = n_ / 3 + 2;
  const Matrix A = random_matrix(m, k, 1), B = random_matrix(k, n, 2), C = random_matrix(m, n, 3);
  const Matrix AB = naive_product(A, B);
  for (const Op opA : both)
    for (const Op opB : both) {
      Matrix out = C;
      gemm(-0.7, apply(opA, A), opA, apply(opB, B), opB, 1.3, out);
      EXPECT_LE(largest_difference(out, -0.7 * AB + 1.3 * C), tolerance_);
      EXPECT_LE(largest_difference(product(apply(opA, A), apply(opB, B), opA, opB), AB),
                tolerance_);
    }
  // beta = 0 overwrites whatever was there
  Matrix out = Matrix::Constant(m, n, nan);
  gemm(1.0, A, Op::none, B, Op::none, 0.0, out);
  EXPECT_LE(largest_difference(out, AB), tolerance_);
}

TEST_P(Blas, GemmOnBlocksOfLargerMatrices) {
  const Matrix A = random_matrix(n_ + 4, n_ + 3, 1), B = random_matrix(n_ + 2, n_ + 5, 2);
  Matrix C = random_matrix(n_ + 2, n_ + 1, 3);
  const Matrix before = C;
  gemm(1.0, A.block(1, 2, n_, n_), Op::none, B.block(2, 3, n_, n_), Op::transpose, 1.0,
       C.block(1, 1, n_, n_));
  Matrix expected = before;
  expected.block(1, 1, n_, n_) +=
      naive_product(A.block(1, 2, n_, n_), Matrix(B.block(2, 3, n_, n_)).transpose());
  EXPECT_LE(largest_difference(C, expected), tolerance_);
}

TEST_P(Blas, MultiplyDotFrobenius) {
  const Matrix A = random_matrix(n_, n_ / 2 + 1, 1), B = random_matrix(n_, n_ / 2 + 1, 2);
  const Vector x = random_matrix(n_ / 2 + 1, 1, 3), y = random_matrix(n_, 1, 4);
  EXPECT_LE(largest_difference(multiply(A, x), naive_product(A, x)), tolerance_);
  EXPECT_LE(largest_difference(multiply(A, y, Op::transpose), naive_product(A.transpose(), y)),
            tolerance_);
  double sum = 0.0;
  for (Index j = 0; j < A.cols(); ++j)
    for (Index i = 0; i < A.rows(); ++i) sum += A(i, j) * B(i, j);
  EXPECT_NEAR(frobenius(A, B), sum, tolerance_ * static_cast<double>(n_));
  EXPECT_NEAR(dot(y, y), naive_product(y.transpose(), y)(0, 0), tolerance_ * 10);
}

TEST_P(Blas, SyrkWritesTheLowerTriangleOnly) {
  const Index k = n_ / 2 + 1;
  const Matrix A = random_matrix(n_, k, 1), C = random_matrix(n_, n_, 2);
  const Matrix AAt = naive_product(A, A.transpose());
  for (const Op op : both) {
    Matrix out = C;
    for (Index j = 0; j < n_; ++j)
      for (Index i = 0; i < j; ++i) out(i, j) = nan;
    syrk(2.0, apply(op, A), op, -0.5, out);
    EXPECT_LE(largest_difference(lower_part(out), lower_part(2.0 * AAt - 0.5 * C)), tolerance_);
    for (Index j = 0; j < n_; ++j)
      for (Index i = 0; i < j; ++i) ASSERT_TRUE(std::isnan(out(i, j))) << i << ", " << j;
  }
}

// With NaN above the diagonal of L, reading it would show.
TEST_P(Blas, TriangularSolvesAndProducts) {
  const Matrix L = random_lower(n_, 1), T = lower_part(L);
  for (const Index columns : {Index(1), n_ / 3 + 2, n_}) {
    const Matrix B = random_matrix(n_, columns, 2), R = B.transpose();
    for (const Op op : both) {
      Matrix X = B;
      solve_lower(L, X, op);
      EXPECT_LE(largest_difference(naive_product(apply(op, T), X), B), 10 * tolerance_);
      Matrix Y = R;
      solve_lower_right(L, Y, op);
      EXPECT_LE(largest_difference(naive_product(Y, apply(op, T)), R), 10 * tolerance_);
      Matrix P = B;
      multiply_lower(L, P, op);
      EXPECT_LE(largest_difference(P, naive_product(apply(op, T), B)), tolerance_);
    }
  }
  Vector x = random_matrix(n_, 1, 3);
  const Vector b = x;
  solve_lower(L, x);
  EXPECT_LE(largest_difference(naive_product(T, x), b), 10 * tolerance_);
}

TEST_P(Blas, MirrorLower) {
  Matrix A = random_matrix(n_, n_, 1);
  const Matrix before = A;
  mirror_lower(A);
  EXPECT_TRUE(A == A.transpose());
  EXPECT_TRUE(lower_part(A) == lower_part(before));
}

TEST_P(Blas, SameBitsForAnyNumberOfThreads) {
  const Matrix A = random_matrix(n_, n_, 1), B = random_matrix(n_, n_, 2), L = random_lower(n_, 3);
  const auto everything = [&] {
    std::vector<Matrix> out{product(A, B), B, B, B, Matrix::Zero(n_, n_)};
    solve_lower(L, out[1], Op::transpose);
    solve_lower_right(L, out[2]);
    multiply_lower(L, out[3]);
    syrk(1.0, A, Op::none, 0.0, out[4]);
    return out;
  };
  set_threads(1);
  const auto reference = everything();
  for (const int t : {2, 3, 7}) {
    set_threads(t);
    EXPECT_TRUE(everything() == reference) << t << " threads";
  }
}

INSTANTIATE_TEST_SUITE_P(Sizes, Blas, testing::Values<Index>(1, 5, 63, 300, 517));

TEST(BlasEmpty, MatricesWithoutEntriesAreFine) {
  const Matrix none(0, 0), tall(4, 0), flat(0, 4);
  EXPECT_EQ(product(none, none).size(), 0);
  EXPECT_EQ(product(flat, random_matrix(4, 3, 1)).rows(), 0);
  EXPECT_TRUE(product(tall, flat).isZero(0.0));
  EXPECT_EQ(product(tall, flat).rows(), 4);
  Matrix C = Matrix::Ones(4, 4);
  gemm(1.0, tall, Op::none, tall, Op::transpose, 2.0, C);
  EXPECT_TRUE((C.array() == 2.0).all());
  gemm(1.0, tall, Op::none, tall, Op::transpose, 0.0, C);
  EXPECT_TRUE(C.isZero(0.0));
  C.setOnes();
  syrk(1.0, tall, Op::none, 3.0, C);
  syrk(1.0, flat, Op::transpose, 3.0, C);
  EXPECT_TRUE((lower_part(C) - 9.0 * lower_part(Matrix::Ones(4, 4))).isZero(0.0));
  EXPECT_TRUE(multiply(tall, Vector(0)).isZero(0.0));
  EXPECT_EQ(multiply(tall, Vector::Ones(4), Op::transpose).size(), 0);
  Matrix empty_columns(4, 0), empty_rows(0, 4), nothing(0, 0);
  solve_lower(Matrix::Identity(4, 4), empty_columns);
  solve_lower_right(Matrix::Identity(4, 4), empty_rows);
  multiply_lower(Matrix::Identity(4, 4), empty_columns);
  mirror_lower(nothing);
  EXPECT_EQ(dot(Vector(0), Vector(0)), 0.0);
  EXPECT_EQ(frobenius(none, none), 0.0);
}

}  // namespace
}  // namespace covary
