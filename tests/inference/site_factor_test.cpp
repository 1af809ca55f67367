#include "covary/inference/site_factor.hpp"

#include <gtest/gtest.h>

#include "covary/linalg/blas.hpp"
#include "covary/linalg/cholesky.hpp"
#include "support/random_data.hpp"

namespace covary {
namespace {

// K = AAᵀ/N + I, and Λ with two negative entries.
struct Case {
  Matrix K;
  Vector lambda;
};
Case mixed_signs(double negative) {
  const Index N = 7;
  const Matrix A = Random(5).normal_matrix(N, N);
  Matrix K = Matrix::Identity(N, N);
  syrk(1.0 / static_cast<double>(N), A, Op::none, 1.0, K);
  mirror_lower(K);
  Vector lambda(N);
  lambda << 0.5, negative, 2.0, 0.0, 1e-3, negative, 40.0;
  return {K, lambda};
}

// R solves (I + ΛK)·R = Λ; log|I + KΛ| = log|K| + log|K⁻¹ + Λ|.
TEST(SiteFactor, SolvesItsEquationForEitherSign) {
  for (const double negative : {0.3, -0.1, -0.25}) {
    const Case c = mixed_signs(negative);
    SiteFactor factor;
    ASSERT_TRUE(factor.compute(c.K, c.lambda));
    const Matrix R = factor.dense();
    Matrix left = product(c.K, R);
    for (Index i = 0; i < left.rows(); ++i) left.row(i) *= c.lambda(i);
    left += R;
    left.diagonal() -= c.lambda;
    EXPECT_LE(left.cwiseAbs().maxCoeff(), 1e-12);

    const Cholesky K = cholesky(c.K);
    Matrix A = K.inverse();
    A.diagonal() += c.lambda;
    EXPECT_NEAR(factor.log_determinant(), K.log_determinant() + cholesky(A).log_determinant(),
                1e-12);

    // (K⁻¹ + Λ)⁻¹, whose diagonal takes rows of little precision another way than the rest
    const Vector variances = cholesky(A).inverse().diagonal();
    EXPECT_LE((factor.variances(c.K) - variances).cwiseAbs().maxCoeff(), 1e-12);
    EXPECT_LE((factor.variances(c.K, &R) - variances).cwiseAbs().maxCoeff(), 1e-12);

    const Matrix k = Random(6).normal_matrix(7, 3);
    const Vector r = factor.reduction(k);
    for (Index j = 0; j < 3; ++j) {
      EXPECT_NEAR(r(j), dot(k.col(j), multiply(R, k.col(j))), 1e-12);
      EXPECT_LE((factor.apply(k.col(j)) - multiply(R, k.col(j))).cwiseAbs().maxCoeff(), 1e-12);
    }
  }
}

TEST(SiteFactor, RefusesWhatIsNoCovariance) {
  const Case c = mixed_signs(-3.0);
  SiteFactor factor;
  EXPECT_FALSE(factor.compute(c.K, c.lambda));
}

}  // namespace
}  // namespace covary
