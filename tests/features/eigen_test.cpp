#include "covary/features/eigen.hpp"

#include <cmath>

#include "covary/error.hpp"
#include "covary/kernels/kernels.hpp"
#include "covary/linalg/quadrature.hpp"
#include "features/features_case.hpp"

namespace covary {
namespace {

Eigen::MatrixX<Index> up_to(Index M) {
  Eigen::MatrixX<Index> out(M, 1);
  for (Index m = 0; m < M; ++m) out(m, 0) = m;
  return out;
}

// ψ_m(x)/√λ_m are orthonormal under the measure and eigenfunctions of the kernel (P1), and
// λ_m = v(1 − B)Bᵐ.
TEST(EigenFeatures, AreEigenfunctions) {
  const double v = 1.7, l = 0.8, mean = 0.4, sd = 1.3, B = eigenvalue_ratio(l, sd);
  const Kernel kernel = se(false, {v, {l}});
  const Vector theta = kernel.parameters(1).values();
  const Index M = 8, n = 120;
  const FeaturesPtr u =
      eigen_features(kernel, Vector::Constant(1, mean), Vector::Constant(1, sd), up_to(M));
  const Vector z = start_of(*u);
  const QuadratureRule rule = gauss_hermite(n);
  const RowMatrix X = (mean + sd * rule.nodes.array()).matrix();
  const Matrix psi = Kuf_of(*u, theta, z, X);
  const Matrix gram = psi * rule.weights.asDiagonal() * psi.transpose();
  const Matrix image = psi * rule.weights.asDiagonal() * cross(kernel, theta, X, X);
  for (Index m = 0; m < M; ++m) {
    const double lambda = v * (1.0 - B) * std::pow(B, m);
    for (Index k = 0; k < M; ++k) EXPECT_NEAR(gram(m, k), m == k ? lambda : 0.0, 1e-11);
    // where the rule has weight: far out its own error is that of a polynomial
    for (Index j = n / 4; j < 3 * n / 4; ++j) EXPECT_NEAR(image(m, j), lambda * psi(m, j), 1e-11);
  }
  EXPECT_NEAR(eigenvalue_ratio(1.0, 1.0), 0.5 * (3.0 - std::sqrt(5.0)), 1e-15);
}

// Σ_m ψ_m(x)ψ_m(x′) is the kernel (P2), and is nowhere above it, however far out.
TEST(EigenFeatures, SumToTheKernel) {
  const Kernel kernel = se(true, {0.9, {1.1, 0.7}});
  const Vector theta = kernel.parameters(2).values();
  const Vector mean = Vector::Constant(2, -0.2), sd = Vector::Constant(2, 0.9);
  Vector ratios(2);
  ratios << eigenvalue_ratio(1.1, 0.9), eigenvalue_ratio(0.7, 0.9);
  const RowMatrix X = 0.7 * Random(3).normal_matrix(5, 2);
  const FeaturesPtr many = eigen_features(kernel, mean, sd, largest_degrees(ratios, 1500));
  const Matrix psi = Kuf_of(*many, theta, start_of(*many), X);
  EXPECT_LT((psi.transpose() * psi - cross(kernel, theta, X, X)).cwiseAbs().maxCoeff(), 1e-10);
  RowMatrix far(2, 2);
  far << 40.0, -3.0, 7.0, 7.0;
  const Matrix there = Kuf_of(*many, theta, start_of(*many), far);
  EXPECT_TRUE(there.allFinite());
  EXPECT_LE(there.colwise().squaredNorm().maxCoeff(), 0.9 * (1.0 + 1e-12));
  const FeaturesPtr few = eigen_features(kernel, mean, sd, largest_degrees(ratios, 7));
  EXPECT_TRUE(Matrix(few->Kuu(nullptr, nullptr)).isIdentity(0.0));
  check_features(*few, kernel, theta, X);
}

TEST(EigenFeatures, LargestFirst) {
  Vector ratios(3);
  ratios << 0.5, 0.2, 0.0;
  const Eigen::MatrixX<Index> d = largest_degrees(ratios, 30);
  std::vector<double> values;
  for (Index m = 0; m < 30; ++m) {
    EXPECT_EQ(d(m, 2), 0);
    values.push_back(std::pow(0.5, d(m, 0)) * std::pow(0.2, d(m, 1)));
    if (m > 0) {
      EXPECT_LE(values.back(), values[values.size() - 2] * (1.0 + 1e-14));
    }
  }
  // None was passed over: the next of each column is no larger than the last.
  for (Index a = 0; a < 40; ++a)
    for (Index b = 0; b < 20; ++b) {
      bool there = false;
      for (Index m = 0; m < 30; ++m) there = there || (d(m, 0) == a && d(m, 1) == b);
      if (!there) {
        EXPECT_LE(std::pow(0.5, a) * std::pow(0.2, b), values.back() * (1.0 + 1e-14));
      }
    }
  EXPECT_THROW(largest_degrees(Vector::Zero(2), 2), InputError);
  EXPECT_THROW(largest_degrees(ratios, 0), InputError);
}

TEST(EigenFeatures, Refuses) {
  const Vector one = Vector::Ones(1), none = Vector::Zero(1);
  EXPECT_THROW(eigen_features("matern32", one, one, up_to(3)), InputError);
  EXPECT_THROW(eigen_features("se + se", one, one, up_to(3)), InputError);
  EXPECT_THROW(eigen_features("se", one, none, up_to(3)), InputError);
  EXPECT_THROW(eigen_features("se", one, one, up_to(0)), InputError);
  EXPECT_THROW(eigenvalue_ratio(1.0, 0.0), InputError);
}

}  // namespace
}  // namespace covary
