#include "covary/inference/basis_regression.hpp"

#include <gtest/gtest.h>

#include "covary/error.hpp"
#include "covary/linalg/blas.hpp"
#include "covary/linalg/cholesky.hpp"

namespace covary {
namespace {

const Vector x = Vector::LinSpaced(7, 0.0, 6.0);
const Vector y = (Vector(7) << .1, .9, 1.2, .4, -.6, -1.1, -.3).finished();
const Vector centres = Vector::LinSpaced(5, 1.0, 5.0);
const Vector at = Vector::LinSpaced(9, -1.0, 7.0);

// The function-space twin: joint Gaussian of f(at) and y under k = σ_w²ΦΦᵀ, conditioned on y.
Gaussian function_space(double weight_variance, double noise) {
  const Matrix P = bump_basis(x, centres), Q = bump_basis(at, centres);
  Matrix all(16, 5);
  all << Q, P;
  Matrix S = weight_variance * product(all, all, Op::none, Op::transpose);
  S.bottomRightCorner(7, 7).diagonal().array() += noise;
  std::vector<Index> data;
  for (Index i = 9; i < 16; ++i) data.push_back(i);
  return condition({Vector::Zero(16), S}, data, y);
}

TEST(BasisRegression, P2_WeightSpaceEqualsFunctionSpace) {
  const BasisRegression model(bump_basis(x, centres), y, 0.8, 0.05);
  const Gaussian weight = model.predict(bump_basis(at, centres)),
                 function = function_space(0.8, 0.05);
  EXPECT_LT((weight.mean - function.mean).cwiseAbs().maxCoeff(), 1e-11);
  EXPECT_LT((weight.covariance - function.covariance).cwiseAbs().maxCoeff(), 1e-11);
  // and the evidence is that of N(y; 0, σ_w²ΦΦᵀ + σ²I)
  const Matrix P = bump_basis(x, centres);
  Matrix S = 0.8 * product(P, P, Op::none, Op::transpose);
  S.diagonal().array() += 0.05;
  EXPECT_NEAR(model.log_evidence(), log_density({Vector::Zero(7), S}, y), 1e-11);
}

TEST(BasisRegression, NoiselessConditioningInterpolates) {
  const Vector few = x.head(3);
  const BasisRegression model(bump_basis(few, centres), y.head(3), 0.8, 0.0);
  const Gaussian f = model.predict(bump_basis(few, centres));
  EXPECT_LT((f.mean - y.head(3)).cwiseAbs().maxCoeff(), 1e-10);
  EXPECT_LT(f.covariance.cwiseAbs().maxCoeff(), 1e-10);
}

TEST(BasisRegression, P3_RankIsTheNumberOfBasisFunctions) {
  const Matrix P = bump_basis(Vector::LinSpaced(12, 0.0, 6.0), centres);
  const Matrix S = product(P, P, Op::none, Op::transpose);
  // After five points nothing is left to learn: every further conditional variance is zero.
  std::vector<Index> five{0, 3, 5, 7, 10};
  const Gaussian rest = condition({Vector::Zero(12), S}, five, Vector::Zero(5));
  EXPECT_LT(rest.covariance.diagonal().maxCoeff(), 1e-9);
  const Gaussian fewer = condition({Vector::Zero(12), S}, {0, 3, 5, 7}, Vector::Zero(4));
  EXPECT_GT(fewer.covariance.diagonal().maxCoeff(), 1e-4);
}

TEST(BasisRegression, BadInput) {
  EXPECT_THROW(BasisRegression(Matrix(3, 2), Vector(2), 1, 1), InputError);
  EXPECT_THROW(BasisRegression(Matrix::Ones(3, 2), Vector::Ones(3), 0, 1), InputError);
  EXPECT_THROW(BasisRegression(Matrix::Ones(3, 2), Vector::Ones(3), 1, -1), InputError);
  EXPECT_THROW(bump_basis(x, centres, 0.0), InputError);
  EXPECT_THROW(polynomial_basis(x, -1), InputError);
}

}  // namespace
}  // namespace covary
