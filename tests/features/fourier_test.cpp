#include "features/fourier.hpp"

#include <cmath>
#include <numbers>

#include "covary/error.hpp"
#include "covary/features/one_pass.hpp"
#include "covary/kernels/kernels.hpp"
#include "covary/linalg/cholesky.hpp"
#include "covary/linalg/quadrature.hpp"
#include "features/features_case.hpp"

namespace covary {
namespace {

const char* const kernels[] = {"matern12", "matern32", "matern52"};

Vector theta_of(double v, double l) { return (Vector(2) << v, l).finished(); }

// ⟨g, h⟩ in the space of the kernel, its integral by quadrature: (D + λ)^(p+1) of both, over what
// white noise would have to be, and the ends.
TEST(FourierFeatures, GramMatrixByQuadrature) {
  const double v = 1.4, l = 0.7, a = -0.3, b = 2.2, L = b - a;
  const Index K = 4;
  const QuadratureRule rule = gauss_legendre(200, a, b);
  for (int p = 0; p < 3; ++p) {
    const double lambda = std::sqrt(2.0 * p + 1.0) / l;
    const Vector theta = theta_of(v, l);
    const FeaturesPtr u = fourier_features(kernels[p], a, b, K);
    const Matrix Kuu = u->Kuu(theta.data(), start_of(*u).data());
    // The derivatives 0 … 3 of harmonic m at x.
    const auto derivative = [&](Index m, int n, double x) {
      const double o = 2.0 * std::numbers::pi * static_cast<double>(m <= K ? m : m - K) / L;
      const double shift = 0.5 * std::numbers::pi * (n - (m <= K ? 0 : 1));
      return std::pow(o, n) * std::cos(o * (x - a) + shift);
    };
    const auto moved = [&](Index m, double x) {  // (D + λ)^(p+1)
      double sum = 0.0, binomial = 1.0;
      for (int n = 0; n <= p + 1; ++n) {
        sum +=
            binomial * std::pow(lambda, p + 1 - n) * (m == 0 && n > 0 ? 0.0 : derivative(m, n, x));
        binomial *= static_cast<double>(p + 1 - n) / (n + 1.0);
      }
      return sum;
    };
    const double noise = p == 0   ? 2.0 * lambda * v
                         : p == 1 ? 4.0 * std::pow(lambda, 3) * v
                                  : 16.0 / 3.0 * std::pow(lambda, 5) * v;
    // The ends: the inverse of the covariance of (f, f′, f″) at a.
    Matrix state = Matrix::Constant(p + 1, p + 1, 0.0);
    const double l2 = lambda * lambda;
    if (p == 0) state << v;
    if (p == 1) state << v, 0.0, 0.0, l2 * v;
    if (p == 2)
      state << v, 0.0, -l2 * v / 3.0, 0.0, l2 * v / 3.0, 0.0, -l2 * v / 3.0, 0.0, l2 * l2 * v;
    const Matrix weights = cholesky(state).inverse();
    for (Index m = 0; m < u->size(); ++m)
      for (Index n = 0; n < u->size(); ++n) {
        double sum = 0.0;
        for (Index i = 0; i < rule.nodes.size(); ++i)
          sum += rule.weights(i) * moved(m, rule.nodes(i)) * moved(n, rule.nodes(i)) / noise;
        for (int i = 0; i <= p; ++i)
          for (int j = 0; j <= p; ++j) {
            const double g = m == 0 && i > 0 ? 0.0 : derivative(m, i, a),
                         h = n == 0 && j > 0 ? 0.0 : derivative(n, j, a);
            sum += weights(i, j) * g * h;
          }
        EXPECT_NEAR(Kuu(m, n), sum, 1e-10 * Kuu.cwiseAbs().maxCoeff()) << kernels[p];
      }
  }
}

// Inside the interval Kuf is the harmonics; outside, what a dense grid inside predicts.
TEST(FourierFeatures, OutsideByTheMarkovProperty) {
  const double a = 0.0, b = 2.0;
  for (const char* name : kernels) {
    const Kernel kernel = name;
    const Vector theta = theta_of(1.3, 0.8);
    const FeaturesPtr u = fourier_features(kernel, a, b, 2);
    const Vector z = start_of(*u);
    RowMatrix outside(3, 1);
    outside << 2.3, 3.5, -0.6;
    const Matrix given = Kuf_of(*u, theta, z, outside);
    double last = 1.0;
    for (const Index n : {41, 81, 161}) {
      const RowMatrix inside = Vector::LinSpaced(n, a, b);
      const Matrix Kuf = Kuf_of(*u, theta, z, inside);
      for (Index j = 0; j < n; ++j) {
        EXPECT_NEAR(Kuf(0, j), 1.0, 1e-15);
        EXPECT_NEAR(Kuf(2, j), std::cos(2.0 * std::numbers::pi * inside(j)), 1e-13);
        EXPECT_NEAR(Kuf(3, j), std::sin(std::numbers::pi * inside(j)), 1e-13);
      }
      const Matrix weights =
          cholesky(gram(kernel, theta, inside)).solve(cross(kernel, theta, inside, outside));
      const double error = (given - Kuf * weights).cwiseAbs().maxCoeff();
      if (name == std::string("matern12")) {
        EXPECT_LT(error, 1e-12);  // its ends are values, which the grid has
      } else {
        EXPECT_LT(error, 0.6 * last) << name;  // of derivatives the grid has differences
      }
      last = error;
    }
  }
}

// What all harmonics together leave of Matérn 1/2 is the published defect.
TEST(FourierFeatures, DefectOfPeriodicity) {
  const double v = 1.3, l = 0.8, a = 0.0, b = 2.0, x = 0.15;
  const Kernel kernel = "matern12";
  const Vector theta = theta_of(v, l);
  double last = 1.0;
  for (const Index K : {50, 100, 200}) {
    const FeaturesPtr u = fourier_features(kernel, a, b, K);
    const Vector z = start_of(*u);
    const Matrix k = Kuf_of(*u, theta, z, RowMatrix::Constant(1, 1, x));
    const double left =
        v - (k.transpose() * cholesky(u->Kuu(theta.data(), z.data())).solve(k))(0, 0);
    const double error = left - periodic_defect(v, l, a, b, x);
    EXPECT_GT(error, 0.0);
    EXPECT_LT(error, 0.6 * last);  // the rest goes down as 1/K
    last = error;
  }
  EXPECT_LT(last, 4e-3);
}

TEST(FourierFeatures, GradientsAndOrder) {
  RowMatrix X(6, 1);
  X << 0.2, 1.1, 1.9, -0.4, 2.6, 0.7;
  for (const char* name : {"matern12", "matern32 + white", "matern52"}) {
    const Kernel kernel = name;
    Vector theta = kernel.parameters(1).values();
    theta.head(2) = theta_of(1.3, 0.8);
    check_features(*fourier_features(kernel, -0.1, 2.1, 3), kernel, theta, X);
  }
}

// Sums of harmonics up to 2K against products of Kuf, with and without a second block of rows.
TEST(FourierFeatures, SumsInOnePass) {
  const FeaturesPtr u = fourier_features("matern32", -0.5, 2.0, 40);
  const Vector z = start_of(*u), theta = theta_of(1.3, 0.8);
  Random random(3, 0);
  RowMatrix X(300, 1);
  for (double& x : X.reshaped()) x = -0.5 + 2.5 * random.uniform();
  X(0) = -0.5, X(1) = 2.0;
  const Matrix T = random.normal_matrix(300, 2), K = Kuf_of(*u, theta, z, X);
  const OnePassFeatures& own = *u->one_pass();
  ASSERT_TRUE(own.covers(z.data(), block_of(X)));
  Vector sum = Vector::Zero(own.sum_size(2));
  own.add_sums(z.data(), {X.data(), 170, 1, 1}, T.topRows(170), sum.data());
  own.add_sums(z.data(), {X.data() + 170, 130, 1, 1}, T.bottomRows(130), sum.data());
  const FeatureSums sums = own.unpack(sum.data(), 2);
  EXPECT_LT((sums.psi2 - K * K.transpose()).cwiseAbs().maxCoeff(), 1e-11);
  EXPECT_LT((sums.kT - K * T).cwiseAbs().maxCoeff(), 1e-11);
  X(7) = 2.01;
  EXPECT_FALSE(own.covers(z.data(), block_of(X)));
}

// Products over columns: Kuu and Kuf are those of the columns multiplied.
TEST(FourierFeatures, ProductsOverColumns) {
  const Kernel kernel = "matern32@1 * matern12@0 + white";
  Vector theta = kernel.parameters(2).values();
  theta.head(4) << 1.3, 0.8, 1.1, 0.6;  // of column 1, then of column 0
  RowMatrix intervals(2, 2);
  intervals << -3.0, 3.5, -2.5, 3.0;
  const Eigen::MatrixX<Index> harmonics = largest_harmonics(kernel, theta, intervals, 12);
  EXPECT_EQ(harmonics(0, 0), 0);
  EXPECT_EQ(harmonics(0, 1), 0);
  const FeaturesPtr u = fourier_products(kernel, intervals, harmonics);
  Random random(2, 0);
  const RowMatrix X = random.normal_matrix(7, 2);
  check_features(*u, kernel, theta, X);

  const FeaturesPtr first = fourier_features("matern12", -3.0, 3.5, 6),
                    second = fourier_features("matern32", -2.5, 3.0, 6);
  const Matrix a = Kuf_of(*first, theta_of(1.1, 0.6), start_of(*first), X.col(0)),
               b = Kuf_of(*second, theta_of(1.3, 0.8), start_of(*second), X.col(1)),
               K = Kuf_of(*u, theta, start_of(*u), X);
  const auto place = [](Index k) { return k >= 0 ? k : 6 - k; };
  for (Index m = 0; m < 12; ++m)
    for (Index j = 0; j < 7; ++j)
      EXPECT_NEAR(K(m, j), a(place(harmonics(m, 0)), j) * b(place(harmonics(m, 1)), j), 1e-13);
}

// The order is that of the products of spectral densities, each once.
TEST(FourierFeatures, LargestHarmonics) {
  const Kernel kernel = "matern12@0 * matern12@1";
  const Vector theta = (Vector(4) << 1.0, 1.0, 1.0, 0.25).finished();
  RowMatrix intervals(2, 2);
  intervals << 0.0, 6.0, 0.0, 6.0;
  const Eigen::MatrixX<Index> harmonics = largest_harmonics(kernel, theta, intervals, 40);
  const auto density = [&](Index m) {
    double out = 1.0;
    for (Index d = 0; d < 2; ++d) {
      const double o = std::numbers::pi / 3.0 * static_cast<double>(std::abs(harmonics(m, d)));
      out *= 1.0 / (1.0 + std::pow(o * theta(2 * d + 1), 2));
    }
    return out;
  };
  for (Index m = 1; m < 40; ++m) {
    EXPECT_LE(density(m), density(m - 1) * (1.0 + 1e-12));
    for (Index n = 0; n < m; ++n) EXPECT_NE(harmonics.row(m), harmonics.row(n));
  }
  // The shorter lengthscale has more of them.
  EXPECT_GT(harmonics.col(1).maxCoeff(), harmonics.col(0).maxCoeff());
}

TEST(FourierFeatures, Refuses) {
  EXPECT_THROW(fourier_features("se", 0.0, 1.0, 2), InputError);
  EXPECT_THROW(fourier_features("matern12 + matern32", 0.0, 1.0, 2), InputError);
  EXPECT_THROW(fourier_features("matern12", 1.0, 1.0, 2), InputError);
  EXPECT_THROW(fourier_features("matern12", 0.0, std::nan(""), 2), InputError);
  EXPECT_THROW(fourier_features("matern12", 0.0, 1.0, -1), InputError);
  RowMatrix intervals(2, 2);
  intervals << 0.0, 1.0, 0.0, 1.0;
  const Eigen::MatrixX<Index> zero = Eigen::MatrixX<Index>::Zero(1, 2);
  for (const char* kernel :
       {"matern12@0 + matern12@1", "matern32", "matern32(ard)", "matern12@0 * matern12@0",
        "matern12@0", "se@0 * matern12@1", "0.5 * matern12@0 * matern12@1"})
    EXPECT_THROW(fourier_products(kernel, intervals, zero), InputError) << kernel;
  EXPECT_THROW(fourier_products("matern12@0 * matern12@1", intervals.topRows(1), zero), InputError);
}

}  // namespace
}  // namespace covary
