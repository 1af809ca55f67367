#include "features/orthogonal.hpp"

#include <cmath>
#include <numbers>

#include "covary/error.hpp"
#include "covary/features/eigen.hpp"
#include "covary/kernels/kernels.hpp"
#include "covary/linalg/quadrature.hpp"
#include "features/features_case.hpp"

namespace covary {
namespace {

// Theorem 3.2.1 with Hermite functions at that scale: the eigenfunctions of se, but for signs
// (P10).
TEST(OrthogonalFeatures, AreEigenfunctionsOfSe) {
  const double v = 1.7, l = 0.8, mean = 0.4, sd = 1.3;
  const Kernel kernel = se(false, {v, {l}});
  const Vector theta = kernel.parameters(1).values();
  const Index M = 40;
  const FeaturesPtr u = orthogonal_features(kernel, mean, orthogonal_scale(l, sd), M);
  const FeaturesPtr e = eigen_features(kernel, Vector::Constant(1, mean), Vector::Constant(1, sd),
                                       largest_degrees(Vector::Constant(1, 0.5), M));
  const RowMatrix X = Vector::LinSpaced(9, -4.0, 5.0);
  const Matrix a = Kuf_of(*u, theta, start_of(*u), X), b = Kuf_of(*e, theta, start_of(*e), X);
  for (Index m = 0; m < M; ++m)
    EXPECT_NEAR((a.row(m).cwiseAbs() - b.row(m).cwiseAbs()).cwiseAbs().maxCoeff(), 0.0, 1e-12) << m;
}

// Of a Matérn kernel by another quadrature, of the integral as it is on the page.
TEST(OrthogonalFeatures, ByQuadrature) {
  const double v = 1.4, l = 0.7, centre = 0.3, alpha = 0.9, lambda = std::sqrt(3.0) / l;
  const Vector theta = (Vector(2) << v, l).finished();
  const Index M = 8;
  const FeaturesPtr u = orthogonal_features("matern32", centre, alpha, M);
  RowMatrix X(3, 1);
  X << -1.2, 0.5, 3.0;
  const Matrix K = Kuf_of(*u, theta, start_of(*u), X);
  const QuadratureRule rule = gauss_legendre(300, 0.0, 14.0 / alpha);
  for (Index i = 0; i < 3; ++i) {
    Vector sum = Vector::Zero(M);
    for (Index q = 0; q < 300; ++q) {
      const double o = rule.nodes(q), y = alpha * o, s = lambda * lambda + o * o;
      const double root = std::sqrt(4.0 * v * lambda * lambda * lambda) / s;
      double before = 0.0, h = std::pow(std::numbers::pi, -0.25) * std::exp(-0.5 * y * y);
      for (Index m = 0; m < M; ++m) {
        const double wave = m % 2 ? std::sin(o * (X(i) - centre)) : std::cos(o * (X(i) - centre));
        sum(m) += 2.0 * rule.weights(q) * std::sqrt(alpha) * h * root * wave /
                  std::sqrt(2.0 * std::numbers::pi);
        const double n = static_cast<double>(m + 1);
        const double next = std::sqrt(2.0 / n) * y * h - std::sqrt((n - 1.0) / n) * before;
        before = h;
        h = next;
      }
    }
    for (Index m = 0; m < M; ++m) EXPECT_NEAR(K(m, i), sum(m), 1e-11);
  }
}

// Parseval: their squares add up to the kernel, of any spectrum.
TEST(OrthogonalFeatures, SumToTheKernel) {
  RowMatrix X(4, 1);
  X << -0.9, -0.2, 0.4, 1.1;
  const Vector theta = (Vector(2) << 1.2, 0.9).finished();
  for (const char* name : {"se", "matern32", "matern52", "matern12"}) {
    SCOPED_TRACE(name);
    const Kernel kernel = name;
    const Matrix K = cross(kernel, theta, X, X);
    double last = 10.0;
    for (const Index M : {10, 40, 160}) {
      const FeaturesPtr u = orthogonal_features(kernel, 0.1, 0.9, M);
      const Matrix A = Kuf_of(*u, theta, start_of(*u), X);
      const double error = (K - A.transpose() * A).cwiseAbs().maxCoeff();
      EXPECT_LT(error, last);
      last = std::max(error, 1e-13);
    }
    EXPECT_LT(last, std::string(name) == "matern12" ? 0.1 : 0.02);
    const FeaturesPtr few = orthogonal_features(kernel, 0.1, 0.9, 5);
    check_features(*few, kernel, theta, X);
  }
  EXPECT_THROW(orthogonal_features("linear", 0.0, 1.0, 3), InputError);
  EXPECT_THROW(orthogonal_features("se", 0.0, 0.0, 3), InputError);
  EXPECT_THROW(orthogonal_features("se", 0.0, 1.0, 0), InputError);
  EXPECT_THROW(orthogonal_scale(0.0, 1.0), InputError);
}

// tr(Kff − Qff) is the sum of the eigenvalues that are left: none can be smaller (T2).
TEST(EmpiricalFeatures, AttainTheLowerBoundOfTheTrace) {
  const Kernel kernel = "matern32";
  const Vector theta = (Vector(2) << 1.2, 0.6).finished();
  const RowMatrix X = Random(3).normal_matrix(30, 2);
  const Index M = 7;
  const FeaturesPtr u = empirical_features(kernel, theta, X, M);
  const Vector z = start_of(*u);
  const Matrix Kuu = u->Kuu(theta.data(), z.data()), Kuf = Kuf_of(*u, theta, z, X);
  const Vector values = symmetric_eigen(cross(kernel, theta, X, X)).values;
  EXPECT_LT((Kuu - Matrix::Identity(M, M)).cwiseAbs().maxCoeff(), 1e-12);
  for (Index m = 0; m < M; ++m) EXPECT_NEAR(Kuf.row(m).squaredNorm(), values(29 - m), 1e-11);
  EXPECT_NEAR(30.0 * 1.2 - Kuf.squaredNorm(), values.head(23).sum(), 1e-10);
  // Of a smooth kernel there are fewer than rows.
  const Vector wide = (Vector(2) << 1.0, 4.0).finished();
  EXPECT_LT(empirical_features("se", wide, X, 30)->size(), 30);
  const RowMatrix few = X.topRows(6), at = Random(8).normal_matrix(4, 2);
  check_features(*empirical_features(kernel, theta, few, 3), kernel, theta, at);
  EXPECT_THROW(empirical_features(kernel, theta, X, 31), InputError);
  EXPECT_THROW(empirical_features(kernel, theta, RowMatrix::Zero(2001, 1), 3), InputError);
  EXPECT_THROW(empirical_features(kernel, X, RowMatrix::Zero(29, 3)), InputError);
}

}  // namespace
}  // namespace covary
