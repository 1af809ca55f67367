#include "features/exponential.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "covary/error.hpp"
#include "covary/kernels/kernels.hpp"
#include "covary/linalg/quadrature.hpp"
#include "features/features_case.hpp"

namespace covary {
namespace {

const Kernel kernel = "matern12";

Vector theta_of(double v, double l) { return (Vector(2) << v, l).finished(); }

// The reference values of ψ_0 … ψ_5 over [0, 1], inside and outside.
TEST(ExponentialEigen, ReferenceValues) {
  const FeaturesPtr u = exponential_eigen_features(kernel, 0.5, 1.0, 6);
  const double inside[] = {.8730995442,  -.3913097283, -.0221153324,
                           -.1368462328, -.1556362712, .0915400615};
  const double outside[] = {.4440003718,  .2882144755, -.1761459296,
                            -.1232938151, .0941803635, .0760049671};
  RowMatrix X(3, 1);
  X << 0.25, 1.5, -0.5;
  const Matrix K = Kuf_of(*u, theta_of(1.0, 1.0), start_of(*u), X);
  for (Index m = 0; m < 6; ++m) {
    EXPECT_NEAR(K(m, 0), inside[m], 1e-10);
    EXPECT_NEAR(K(m, 1), outside[m], 1e-10);
    EXPECT_NEAR(K(m, 2), m % 2 ? -outside[m] : outside[m], 1e-10);
  }
}

// ∫ψ_m(x)k(x, x′)dx = λ_mψ_m(x′), inside and outside; ∫ψ_mψ_n = λ_m δ_mn (P1); Σψ_m(x)² is the
// kernel inside and v·e^{−2·distance/ℓ} beyond (P2, P5).
TEST(ExponentialEigen, AreEigenfunctions) {
  const double v = 1.4, l = 0.7, centre = 0.3, L = 2.2;
  const Vector theta = theta_of(v, l);
  const Index M = 6;
  const FeaturesPtr u = exponential_eigen_features(kernel, centre, L, M);
  const Vector z = start_of(*u);
  RowMatrix at(4, 1);
  at << -0.5, 0.9, 2.0, -1.6;
  const Matrix there = Kuf_of(*u, theta, z, at);
  for (Index i = 0; i < 4; ++i) {
    // The kink is at x′: a rule on each side of it.
    const double a = centre - 0.5 * L, b = centre + 0.5 * L, middle = std::clamp(at(i), a, b);
    Vector image = Vector::Zero(M);
    Matrix gram = Matrix::Zero(M, M);
    for (const auto& [from, to] : {std::pair{a, middle}, std::pair{middle, b}}) {
      if (!(from < to)) continue;
      const QuadratureRule rule = gauss_legendre(80, from, to);
      const RowMatrix X = rule.nodes;
      const Matrix psi = Kuf_of(*u, theta, z, X);
      gram += psi * rule.weights.asDiagonal() * psi.transpose();
      image += psi * rule.weights.cwiseProduct(cross(kernel, theta, X, at.row(i)).col(0));
    }
    for (Index m = 0; m < M; ++m) {
      EXPECT_NEAR(image(m), gram(m, m) * there(m, i), 1e-11);
      for (Index n = 0; n < m; ++n) EXPECT_NEAR(gram(m, n), 0.0, 1e-12);
    }
  }
  const FeaturesPtr many = exponential_eigen_features(kernel, centre, L, 4000);
  const Vector sums = Kuf_of(*many, theta, start_of(*many), at).colwise().squaredNorm().transpose();
  EXPECT_NEAR(sums(0), v, 2e-3);
  EXPECT_NEAR(sums(2), v * std::exp(-2.0 * (2.0 - centre - 0.5 * L) / l), 2e-3);
  EXPECT_LE(sums.maxCoeff(), v);
  check_features(*u, kernel, theta, at);
}

// Kuf and Kuu of the harmonics by quadrature.
TEST(L2Fourier, ByQuadrature) {
  const double v = 1.4, l = 0.7, centre = 0.3, L = 2.2, a = centre - 0.5 * L, b = centre + 0.5 * L;
  const Vector theta = theta_of(v, l);
  const Index K = 3, M = 2 * K + 1;
  const FeaturesPtr u = l2_fourier_features(kernel, centre, L, K);
  const Vector z = start_of(*u);
  const auto wave = [&](Index m, double x) {
    const double o = 2.0 * std::numbers::pi * static_cast<double>(m <= K ? m : m - K) / L;
    return m <= K ? std::cos(o * (x - centre)) : std::sin(o * (x - centre));
  };
  const QuadratureRule unit = gauss_legendre(60);
  const auto integral = [&](Index m, double x) {
    const double middle = std::clamp(x, a, b);
    double sum = 0.0;
    for (const auto& [from, to] : {std::pair{a, middle}, std::pair{middle, b}}) {
      if (!(from < to)) continue;
      const double half = 0.5 * (to - from), centre_of = 0.5 * (from + to);
      for (Index i = 0; i < 60; ++i) {
        const double node = centre_of + half * unit.nodes(i);
        sum += half * unit.weights(i) * wave(m, node) * v * std::exp(-std::abs(node - x) / l);
      }
    }
    return sum;
  };
  RowMatrix at(4, 1);
  at << -0.5, 0.9, 2.0, -1.6;
  const Matrix there = Kuf_of(*u, theta, z, at), Kuu = u->Kuu(theta.data(), z.data());
  const QuadratureRule outer = gauss_legendre(60, a, b);
  for (Index m = 0; m < M; ++m) {
    for (Index i = 0; i < 4; ++i) EXPECT_NEAR(there(m, i), integral(m, at(i)), 1e-11);
    for (Index n = 0; n < M; ++n) {
      double sum = 0.0;
      for (Index i = 0; i < 60; ++i)
        sum += outer.weights(i) * wave(n, outer.nodes(i)) * integral(m, outer.nodes(i));
      EXPECT_NEAR(Kuu(m, n), sum, 1e-10);
    }
  }
  check_features(*u, kernel, theta, at);
  check_features(*l2_fourier_features("matern12 + white", 0.0, 1.0, 1), "matern12",
                 theta_of(0.8, 1.5), at);
}

TEST(ExponentialEigen, Refuses) {
  EXPECT_THROW(exponential_eigen_features("matern32", 0.0, 1.0, 3), InputError);
  EXPECT_THROW(exponential_eigen_features(kernel, 0.0, 0.0, 3), InputError);
  EXPECT_THROW(exponential_eigen_features(kernel, 0.0, 1.0, 0), InputError);
  EXPECT_THROW(l2_fourier_features("se", 0.0, 1.0, 3), InputError);
  EXPECT_THROW(l2_fourier_features(kernel, 0.0, 1.0, -1), InputError);
}

}  // namespace
}  // namespace covary
