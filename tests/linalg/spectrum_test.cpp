#include "covary/linalg/spectrum.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numbers>

#include "covary/error.hpp"
#include "covary/linalg/blas.hpp"

namespace covary {
namespace {

// The second-difference matrix has the eigenvalues 2 − 2 cos(kπ/(n + 1)).
TEST(SymmetricEigen, ValuesOfTheSecondDifferences) {
  const Index n = 40;
  Matrix A = Matrix::Zero(n, n);
  A.diagonal().setConstant(2);
  A.diagonal(-1).setConstant(-1);  // the upper triangle is not read
  const SymmetricEigen e = symmetric_eigen(A);
  for (Index k = 0; k < n; ++k)
    EXPECT_NEAR(e.values[k],
                2 - 2 * std::cos(static_cast<double>(k + 1) * std::numbers::pi / (n + 1)), 1e-13);
  mirror_lower(A);
  const Matrix scaled = e.vectors.array().rowwise() * e.values.transpose().array();
  EXPECT_LT((product(scaled, e.vectors, Op::none, Op::transpose) - A).cwiseAbs().maxCoeff(), 1e-13);
  EXPECT_LT(
      (product(e.vectors, e.vectors, Op::transpose) - Matrix::Identity(n, n)).cwiseAbs().maxCoeff(),
      1e-13);
}

TEST(SymmetricEigen, SmallAndBadMatrices) {
  EXPECT_EQ(symmetric_eigen(Matrix{{3.0}}).values[0], 3);
  EXPECT_EQ(symmetric_eigen(Matrix(0, 0)).values.size(), 0);
  EXPECT_THROW(symmetric_eigen(Matrix(2, 3)), InputError);
  EXPECT_THROW(symmetric_eigen(Matrix{{std::numeric_limits<double>::quiet_NaN()}}), InputError);
}

}  // namespace
}  // namespace covary
