#include "covary/kernels/input_moments.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "covary/error.hpp"
#include "covary/kernels/expectations.hpp"
#include "covary/linalg/blas.hpp"
#include "covary/linalg/quadrature.hpp"
#include "covary/random/random.hpp"

namespace covary {
namespace {

const char* const kernels[] = {"se",
                               "linear(ard)",
                               "constant + white",
                               "se(ard) + linear(ard) + constant + white",
                               "se@0 * linear@1 + se@1",
                               "2 * se * se(ard)",
                               "(se@0 + constant) * (se@1 + linear@1)"};

Vector theta_of(const Kernel& kernel) {
  return Vector::LinSpaced(kernel.parameter_count(2), 0.7, 1.5);
}

// By Gauss–Hermite over x = mean + Lε.
KernelMoments by_quadrature(const Kernel& kernel, const Vector& theta, const RowMatrix& Z,
                            const Vector& mean, const Matrix& L) {
  const QuadratureRule rule = gauss_hermite(100);
  const Index M = Z.rows();
  KernelMoments out{0.0, Vector::Zero(M), Matrix::Zero(M, M), Matrix::Zero(2, M)};
  Matrix second = Matrix::Zero(M, M);
  for (Index a = 0; a < rule.nodes.size(); ++a)
    for (Index b = 0; b < rule.nodes.size(); ++b) {
      const Vector away = L.col(0) * rule.nodes(a) + L.col(1) * rule.nodes(b);
      const RowMatrix x = (mean + away).transpose();
      const double weight = rule.weights(a) * rule.weights(b);
      const Vector k = cross(kernel, theta, Z, x);
      out.psi0 += weight * diagonal(kernel, theta, x)(0);
      out.psi1 += weight * k;
      second += weight * k * k.transpose();
      out.with_input += weight * away * k.transpose();
    }
  out.covariance = second - out.psi1 * out.psi1.transpose();
  return out;
}

void expect_near(const KernelMoments& got, const KernelMoments& want, double tolerance) {
  EXPECT_NEAR(got.psi0, want.psi0, tolerance);
  EXPECT_LT((got.psi1 - want.psi1).cwiseAbs().maxCoeff(), tolerance);
  EXPECT_LT((got.covariance - want.covariance).cwiseAbs().maxCoeff(), tolerance);
  EXPECT_LT((got.with_input - want.with_input).cwiseAbs().maxCoeff(), tolerance);
}

TEST(InputMoments, E1FullCovariancesAgreeWithQuadrature) {
  Random random(3);
  const RowMatrix Z = random.normal_matrix(4, 2);
  const Vector mean = random.normal_vector(2);
  Matrix L(2, 2);
  L << 0.8, 0.0, -0.5, 0.3;
  for (const char* expression : kernels) {
    SCOPED_TRACE(expression);
    const Kernel kernel(expression);
    const Vector theta = theta_of(kernel);
    expect_near(InputMoments(kernel, theta, Z)(mean, L * L.transpose()),
                by_quadrature(kernel, theta, Z, mean, L), 1e-12);
  }
  // By a rule of fewer nodes where there is no closed form.
  const Kernel other("rq");
  const Vector theta = theta_of(other);
  expect_near(InputMoments(other, theta, Z)(mean, L * L.transpose()),
              by_quadrature(other, theta, Z, mean, L), 1e-4);
}

TEST(InputMoments, ADiagonalIsAFullCovarianceWithoutTheRest) {
  Random random(4);
  const RowMatrix Z = random.normal_matrix(4, 2);
  const Vector mean = random.normal_vector(2);
  const Matrix S = (Matrix(2, 1) << 0.4, 1.7).finished(), full = S.col(0).asDiagonal();
  for (const char* expression : {"se(ard)", "se(ard) + linear(ard) + constant", "matern32"}) {
    SCOPED_TRACE(expression);
    const Kernel kernel(expression);
    const InputMoments moments(kernel, theta_of(kernel), Z);
    const KernelMoments a = moments(mean, S), b = moments(mean, full);
    // The roots of a rule's covariance may come in another order.
    expect_near(a, b, expression == std::string("matern32") ? 0.05 : 1e-14);
    const Vector theta = theta_of(kernel);
    const auto psi = GaussianExpectations::make(kernel, theta.data(), {Z.data(), 4, 2, 2});
    Matrix psi2 = Matrix::Zero(4, 4);
    psi->psi2({{mean.data(), 1, 2, 2}, S.data()}, psi2);
    mirror_lower(psi2);
    EXPECT_LT((a.covariance + a.psi1 * a.psi1.transpose() - psi2).cwiseAbs().maxCoeff(), 1e-13);
  }
}

// To first order cov k(Z, x) is J·S·Jᵀ with J the gradients at the mean: relative digits are kept
// where a difference of second moments would have none.
TEST(InputMoments, SmallVariancesKeepTheirDigits) {
  Random random(5);
  const RowMatrix Z = random.normal_matrix(5, 2);
  const Vector mean = random.normal_vector(2);
  Matrix S(2, 2);
  S << 2.0, 0.7, 0.7, 1.0;
  for (const char* expression : {"se(ard)", "se(ard) * linear(ard) + se"}) {
    SCOPED_TRACE(expression);
    const Kernel kernel(expression);
    const Vector theta = theta_of(kernel);
    Matrix J(5, 2);
    for (Index d = 0; d < 2; ++d) {
      RowMatrix up = mean.transpose(), down = up;
      up(0, d) += 1e-5;
      down(0, d) -= 1e-5;
      J.col(d) = (cross(kernel, theta, Z, up) - cross(kernel, theta, Z, down)) / 2e-5;
    }
    const double small = 1e-14;
    const KernelMoments m = InputMoments(kernel, theta, Z)(mean, small * S);
    const Matrix want = J * S * J.transpose();
    EXPECT_LT((m.covariance / small - want).cwiseAbs().maxCoeff(), 1e-8);
    EXPECT_LT((m.with_input / small - S * J.transpose()).cwiseAbs().maxCoeff(), 1e-8);
  }
}

TEST(InputMoments, NoVarianceIsAPointAndFarInputsAreFinite) {
  const RowMatrix Z = Random(6).normal_matrix(4, 2);
  const Kernel kernel("se(ard)");
  const InputMoments moments(kernel, theta_of(kernel), Z);
  const Vector mean = Vector::Constant(2, 0.3);
  const KernelMoments point = moments(mean, Matrix::Zero(2, 2));
  EXPECT_EQ(point.covariance.cwiseAbs().maxCoeff(), 0.0);
  EXPECT_EQ(point.with_input.cwiseAbs().maxCoeff(), 0.0);
  EXPECT_LT((point.psi1 - cross(kernel, theta_of(kernel), Z, RowMatrix(mean.transpose())))
                .cwiseAbs()
                .maxCoeff(),
            1e-15);
  // The means underflow here, the second moments do not.
  const KernelMoments far = moments(Vector::Constant(2, 60.0), Matrix::Constant(2, 1, 30.0));
  EXPECT_TRUE(far.covariance.allFinite());
  EXPECT_GT(far.covariance.minCoeff(), 0.0);
  EXPECT_THROW(moments(mean, Matrix::Zero(3, 3)), InputError);
}

}  // namespace
}  // namespace covary
