// Values and rates of the specification of spectral features that no other test holds.
#include <cmath>
#include <numbers>

#include "covary/features/eigen.hpp"
#include "covary/features/planner.hpp"
#include "covary/kernels/kernels.hpp"
#include "covary/linalg/cholesky.hpp"
#include "covary/linalg/quadrature.hpp"
#include "features/features_case.hpp"

namespace covary {
namespace {

Matrix eigenfunctions(Index M, double sd, const RowMatrix& X) {
  Eigen::MatrixX<Index> degrees(M, 1);
  for (Index m = 0; m < M; ++m) degrees(m, 0) = m;
  const Kernel kernel = se(false, {1.0, {1.0}});
  const FeaturesPtr u = eigen_features(kernel, Vector::Zero(1), Vector::Constant(1, sd), degrees);
  return Kuf_of(*u, kernel.parameters(1).values(), start_of(*u), X);
}

TEST(SpectralReference, FunctionsOfSe) {
  RowMatrix X(4, 1);
  X << 0.0, 0.5, 0.5, -0.7;
  const Matrix psi = eigenfunctions(60, 1.0, X);
  const double at_zero[] = {.9613409238, 0.0, -.2596492976, 0.0, .0858899803, 0.0};
  const double at_half[] = {.8898695304,  .411198197,   -.1059882964,
                            -.1565182746, -.0011025137, .0532451896};
  for (Index m = 0; m < 6; ++m) {
    EXPECT_NEAR(psi(m, 0), at_zero[m], 1e-10);
    EXPECT_NEAR(psi(m, 1), at_half[m], 1e-10);
  }
  EXPECT_NEAR(psi.col(2).dot(psi.col(3)), .48675225596, 1e-11);
}

// λ_m of the planner are of the roots ω_m: λ = 2/(1 + ω²).
TEST(SpectralReference, RootsOfTheExponential) {
  const double omega[] = {1.30654237419, 3.6731944063,  6.58462004256, 9.63168463569,
                          12.7232407841, 15.8341053693, 18.9549714108, 22.0816596359};
  const Spectrum spectrum = Spectrum::exponential(1.0, 1.0, 1.0);
  for (Index m = 0; m < 8; ++m)
    EXPECT_NEAR(spectrum.tail(m) - spectrum.tail(m + 1), 2.0 / (1.0 + omega[m] * omega[m]), 1e-11);
}

// What eigenfunctions leave of any two rows is within the termwise bound (T8), by the constant √q.
TEST(SpectralReference, T8TermwiseBound) {
  const RowMatrix X = Vector::LinSpaced(25, -6.0, 6.0);
  const Kernel kernel = se(false, {1.0, {1.0}});
  const Matrix K = cross(kernel, kernel.parameters(1).values(), X, X);
  for (const double sd : {0.5, 1.0, 5.0})
    for (const Index M : {1, 4, 8, 12}) {
      const Matrix psi = eigenfunctions(M, sd, X);
      const Matrix left = K - psi.transpose() * psi;
      const double C = std::pow(1.0 + 4.0 * sd * sd, 0.25),
                   tail = std::pow(eigenvalue_ratio(1.0, sd), M);
      double worst = 0.0;
      for (Index i = 0; i < X.rows(); ++i)
        for (Index j = 0; j < X.rows(); ++j)
          worst = std::max(worst, std::abs(left(i, j)) / (C * tail) *
                                      std::exp(-(X(i) * X(i) + X(j) * X(j)) / (4.0 * sd * sd)));
      EXPECT_LE(worst, 1.0 + 1e-9) << sd << " " << M;
      EXPECT_GE(worst, 0.1) << sd << " " << M;  // the bound is of the right size
    }
}

// Points on a grid and the exponential kernel (T13): the mean over [0, 1] of what they leave, and
// the largest; and P12, the inverse of the grid's matrix.
TEST(SpectralReference, T13GridOfTheExponential) {
  const Kernel kernel = matern12(false, {1.0, {1.0}});
  const Vector theta = kernel.parameters(1).values();
  const std::pair<Index, double> means[] = {{1, .31303529},  {5, .066489563},   {10, .033311132},
                                            {20, .01666389}, {50, .0066664889}, {100, .0033333111}};
  for (const auto& [M, value] : means) {
    const RowMatrix Z = Vector::LinSpaced(M + 1, 0.0, 1.0);
    const Matrix Kuu = cross(kernel, theta, Z, Z);
    const Cholesky factor = cholesky(Kuu, "Kuu");
    // One cell stands for all: outside of it only its ends are felt.
    const QuadratureRule rule = gauss_legendre(30, 0.0, 1.0 / static_cast<double>(M));
    RowMatrix X(31, 1);
    X << rule.nodes, 0.5 / static_cast<double>(M);
    const Matrix Kuf = cross(kernel, theta, Z, X);
    const Vector left =
        1.0 - Kuf.cwiseProduct(Matrix(factor.solve(Kuf))).colwise().sum().transpose().array();
    const double h = 1.0 / static_cast<double>(M), mean = left.head(30).dot(rule.weights) / h;
    EXPECT_NEAR(mean, value, 1e-8) << M;
    EXPECT_NEAR(mean, 1.0 / std::tanh(h) - 1.0 / h, 1e-10) << M;
    EXPECT_NEAR(left(30), std::tanh(0.5 * h), 1e-10) << M;
    const double r = std::exp(-h), scale = 1.0 / (1.0 - r * r);
    const Matrix inverse = factor.solve(Matrix::Identity(M + 1, M + 1));
    for (Index i = 0; i <= M; ++i)
      for (Index j = 0; j <= M; ++j) {
        const bool corner = i == 0 || i == M;
        const double expected = i == j                 ? (corner ? 1.0 : 1.0 + r * r)
                                : std::abs(i - j) == 1 ? -r
                                                       : 0.0;
        EXPECT_NEAR(inverse(i, j), scale * expected, 1e-9 * scale);
      }
  }
  // Eigenfunctions leave 0.608 of it, no more than a constant (T14).
  const Spectrum spectrum = Spectrum::exponential(1.0, 1.0, 1.0);
  EXPECT_NEAR(spectrum.tail(500) / .00066666649, 6.0 / (std::numbers::pi * std::numbers::pi), 1e-3);
}

}  // namespace
}  // namespace covary
