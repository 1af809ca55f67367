#include "covary/data/pca.hpp"

#include <cmath>
#include <limits>

#include "covary/error.hpp"
#include "covary/linalg/blas.hpp"
#include "covary/random/random.hpp"
#include "data/scratch.hpp"

namespace covary {
namespace {

// Rows that vary differently along every direction, far from the origin.
RowMatrix table(Index N, Index D, std::uint64_t seed) {
  Random random(seed);
  const Matrix mix = random.normal_matrix(D, D);
  Matrix Z = random.normal_matrix(N, D);
  for (Index d = 0; d < D; ++d) Z.col(d) *= std::pow(0.7, static_cast<double>(d));
  RowMatrix X = product(Z, mix);
  X.array() += 50;
  return X;
}

double largest(const Matrix& A) { return A.cwiseAbs().maxCoeff(); }

TEST(Pca, APlaneByHand) {
  // Variances 8 along (3, 4)/5 and 2 along (4, −3)/5 about (1, 2).
  const double a = 4, b = 2;
  RowMatrix X(4, 2);
  X << 1 + 0.6 * a, 2 + 0.8 * a, 1 - 0.6 * a, 2 - 0.8 * a, 1 + 0.8 * b, 2 - 0.6 * b, 1 - 0.8 * b,
      2 + 0.6 * b;
  const Pca pca = Pca::fit(X);
  EXPECT_LT(largest(pca.mean - Vector{{1, 2}}), 1e-14);
  EXPECT_LT(largest(pca.components - Matrix{{0.6, 0.8}, {0.8, -0.6}}), 1e-14);
  EXPECT_LT(largest(pca.variances - Vector{{8, 2}}), 1e-13);
  EXPECT_NEAR(pca.total_variance, 10, 1e-13);
  EXPECT_LT(largest(pca.explained() - Vector{{0.8, 0.2}}), 1e-14);
  EXPECT_EQ(pca.size_explaining(0.8), 1);
  EXPECT_EQ(pca.size_explaining(0.81), 2);
  EXPECT_EQ(pca.size_explaining(1), 2);
  EXPECT_LT(largest(pca.first(1).transform(X) - Vector{{a, -a, 0, 0}}), 1e-14);
}

TEST(Pca, ComponentsAreOrthonormalAndScoresUncorrelated) {
  for (const Index N : {200, 7}) {  // more rows than columns, and fewer
    const RowMatrix X = table(N, 10, 1);
    const Pca pca = Pca::fit(X);
    const Index Q = pca.size();
    EXPECT_EQ(Q, std::min<Index>(N - 1, 10));
    EXPECT_LT(
        largest(product(pca.components, pca.components, Op::transpose) - Matrix::Identity(Q, Q)),
        1e-10);
    const Matrix scores = pca.transform(X);
    Matrix expected = Matrix::Zero(Q, Q);
    expected.diagonal() = pca.variances;
    EXPECT_LT(largest(product(scores, scores, Op::transpose) / static_cast<double>(N) - expected),
              1e-10 * pca.variances[0]);
    EXPECT_LT(largest(scores.colwise().mean()), 1e-12);
    for (Index q = 1; q < Q; ++q) EXPECT_LE(pca.variances[q], pca.variances[q - 1]);
    EXPECT_NEAR(pca.variances.sum(), pca.total_variance, 1e-10 * pca.total_variance);
    EXPECT_LT(largest(pca.inverse(pca.transform(X)) - X), 1e-10);
  }
}

TEST(Pca, WhatTheLeftOutComponentsCarryIsLost) {
  const RowMatrix X = table(100, 6, 2);
  const Pca all = Pca::fit(X), three = Pca::fit(X, 3);
  EXPECT_EQ(three.components, all.components.leftCols(3));
  EXPECT_EQ(all.first(3).components, three.components);
  const double lost = (three.inverse(three.transform(X)) - X).squaredNorm() / 100;
  EXPECT_NEAR(lost, all.variances.tail(3).sum(), 1e-10);
}

// Rows given twice have the same components, by way of the columns instead of the rows.
TEST(Pca, BothRoutesAgree) {
  const RowMatrix X = table(6, 8, 3);
  RowMatrix twice(12, 8);
  twice << X, X;
  const Pca few = Pca::fit(X), many = Pca::fit(twice);
  ASSERT_EQ(many.size(), 5);
  EXPECT_LT(largest(few.components - many.components), 1e-8);
  EXPECT_LT(largest(few.variances - many.variances), 1e-11 * few.variances[0]);
}

TEST(Pca, SignsDoNotDependOnThoseOfTheData) {
  const RowMatrix X = table(50, 5, 4);
  EXPECT_LT(largest(Pca::fit(-X).components - Pca::fit(X).components), 1e-9);
  // Of entries equal in size the first is positive.
  const Pca even = Pca::fit(RowMatrix{{1, -1}, {-1, 1}, {0, 0}});
  EXPECT_LT(largest(even.components - Matrix{{std::sqrt(0.5)}, {-std::sqrt(0.5)}}), 1e-15);
}

TEST(Pca, BadInputIsRefused) {
  const RowMatrix X = table(20, 3, 5);
  const auto message = [](auto call) { return message_of<InputError>(call); };
  RowMatrix hole = X;
  hole(4, 1) = std::numeric_limits<double>::quiet_NaN();
  EXPECT_NE(message([&] { Pca::fit(hole); }).find("row 4, column 1"), std::string::npos);
  EXPECT_NE(message([&] {
              Pca::fit(X, 4);
            }).find("4 components were asked for, but the 20 rows vary along only 3"),
            std::string::npos);
  EXPECT_NE(message([&] { Pca::fit(RowMatrix::Constant(5, 2, 0.1)); }).find("are equal"),
            std::string::npos);
  EXPECT_THROW(Pca::fit(RowMatrix::Zero(3, 2)), InputError);
  EXPECT_THROW(Pca::fit(RowMatrix(0, 3)), InputError);
  EXPECT_THROW(Pca::fit(X, -1), InputError);
  const Pca pca = Pca::fit(X, 2);
  EXPECT_THROW(pca.transform(hole), InputError);
  EXPECT_THROW(pca.transform(X.leftCols(2)), InputError);
  EXPECT_THROW(pca.inverse(X), InputError);
  EXPECT_THROW(pca.first(3), InputError);
  EXPECT_THROW(pca.size_explaining(0), InputError);
  EXPECT_THROW(pca.size_explaining(1), InputError);
}

}  // namespace
}  // namespace covary
