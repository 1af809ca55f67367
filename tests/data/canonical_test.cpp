#include "data/canonical.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numbers>

#include "covary/error.hpp"
#include "covary/linalg/blas.hpp"
#include "covary/random/random.hpp"

namespace covary {
namespace {

// Orthonormal columns of mean zero.
Matrix waves(Index N, Index count) {
  Matrix out(N, count);
  for (Index i = 0; i < N; ++i)
    for (Index k = 0; k < count; ++k)
      out(i, k) = std::cos(std::numbers::pi * static_cast<double>(k + 1) *
                           (static_cast<double>(i) + 0.5) / static_cast<double>(N)) *
                  std::sqrt(2.0 / static_cast<double>(N));
  return out;
}

TEST(SharedDirections, TwoTablesGiveCanonicalCorrelations) {
  const Matrix u = waves(20, 5);
  const double rho = 0.8, rest = 0.6;
  // Mixed and moved, which correlations do not see.
  RowMatrix a(20, 2), b(20, 2);
  a << 3.0 * u.col(0) + u.col(1), u.col(1);
  b << rho * u.col(0) + rest * u.col(2), 5.0 * u.col(3) - (rho * u.col(0) + rest * u.col(2));
  b.array() += 7.0;
  const SharedDirections found = SharedDirections::fit({a, b}, 4);
  ASSERT_EQ(found.agreement.size(), 4);
  EXPECT_LT((found.agreement - Vector{{1.0 + rho, 1.0, 1.0, 1.0 - rho}}).cwiseAbs().maxCoeff(),
            1e-10);
  const Matrix S = found.scores;
  EXPECT_LT((product(S, S, Op::transpose) / 20.0 - Matrix::Identity(4, 4)).cwiseAbs().maxCoeff(),
            1e-10);
  EXPECT_LT(S.colwise().mean().cwiseAbs().maxCoeff(), 1e-10);
  // The first lies half way between the two directions that belong together.
  const Vector middle = u.col(0) + rho * u.col(0) + rest * u.col(2);
  EXPECT_NEAR(std::abs(dot(S.col(0), middle)) / (S.col(0).norm() * middle.norm()), 1.0, 1e-10);
}

TEST(SharedDirections, WhatAllTablesHaveIsFoundAmongWhatTheyHaveAlone) {
  const Matrix u = waves(60, 10);
  std::vector<RowMatrix> tables;
  for (Index v = 0; v < 3; ++v) {
    RowMatrix table(60, 3);  // what is shared varies least
    table << 0.1 * u.col(0) + u.col(1 + v), u.col(1 + v) + 2.0 * u.col(4 + v), 3.0 * u.col(4 + v);
    tables.push_back(table);
  }
  const SharedDirections found = SharedDirections::fit(tables, 5);
  EXPECT_EQ(found.clear(), 1);
  EXPECT_NEAR(found.agreement(0), 3.0, 1e-10);
  EXPECT_NEAR(found.agreement(1), 1.0, 1e-10);
  EXPECT_NEAR(std::abs(dot(found.scores.col(0), u.col(0))), std::sqrt(60.0), 1e-8);
}

TEST(SharedDirections, UnrelatedTablesAgreeAsFarAsChanceGoes) {
  Random random(3);
  for (const Index tables : {2, 5}) {
    std::vector<RowMatrix> all;
    for (Index v = 0; v < tables; ++v) all.push_back(random.normal_matrix(600, 20));
    const SharedDirections found = SharedDirections::fit(all, 20);
    EXPECT_NEAR(found.agreement(0) / found.by_chance, 1.0, 0.03);
    EXPECT_GT(found.by_chance, 1.2);
  }
  // Where there are too few rows everything agrees, and nothing is clear.
  const SharedDirections few =
      SharedDirections::fit({random.normal_matrix(9, 6), random.normal_matrix(9, 6)}, 6);
  EXPECT_NEAR(few.agreement(0), 2.0, 1e-10);
  EXPECT_EQ(few.clear(), 0);
}

TEST(SharedDirections, TablesThatDoNotVaryAreNoneAndBadOnesAreRefused) {
  const RowMatrix good = Random(1).normal_matrix(10, 2), same = RowMatrix::Constant(10, 2, 4.0);
  EXPECT_EQ(SharedDirections::fit({good, same}, 2).agreement.size(), 2);
  EXPECT_EQ(SharedDirections::fit({same, same}, 2).scores.cols(), 0);
  RowMatrix bad = good;
  bad(3, 1) = std::numeric_limits<double>::quiet_NaN();
  EXPECT_THROW(SharedDirections::fit({good, bad}, 2), InputError);
  EXPECT_THROW(SharedDirections::fit({good, good.topRows(9)}, 2), InputError);
  EXPECT_THROW(SharedDirections::fit({good}, 2), InputError);
  EXPECT_THROW(SharedDirections::fit({good, good}, 0), InputError);
}

}  // namespace
}  // namespace covary
