#include "features/windows.hpp"

#include <cmath>

#include "covary/error.hpp"
#include "covary/kernels/kernels.hpp"
#include "covary/linalg/quadrature.hpp"
#include "features/basis.hpp"
#include "features/features_case.hpp"

namespace covary {
namespace {

// Three windows in two columns, of unlike widths and frequencies.
struct Case {
  RowMatrix Z = RowMatrix(3, 2), widths = RowMatrix(3, 2), frequencies = RowMatrix(3, 2);
  Vector phases = Vector(3);
  Case() {
    Z << 0.2, -0.4, 1.1, 0.3, -0.8, 0.9;
    widths << 0.5, 1.2, 0.3, 0.7, 1.5, 0.4;
    frequencies << 0.8, -1.1, 2.0, 0.4, -0.5, 1.7;
    phases << 0.3, -0.9, 1.4;
  }
};

double kernel_value(const Kernel& k, const Vector& theta, const Vector& x, const Vector& y) {
  return cross(k, theta, RowMatrix(x.transpose()), RowMatrix(y.transpose()))(0, 0);
}

// Of one column by Gauss–Hermite rules of 80 nodes, of which the windows are the weights.
TEST(WindowFeatures, P29IntegralsOfOneColumn) {
  const Kernel kernel = se(false, {1.7, {0.9}}) + constant(0.4) + se(false, {0.5, {2.5}});
  const Vector theta = kernel.parameters(1).values();
  const Case c;
  const RowMatrix Z = c.Z.col(0), widths = c.widths.col(0), frequencies = c.frequencies.col(0);
  const QuadratureRule rule = gauss_hermite(80);
  const auto window = [&](Index m, Index i, double& x) {
    x = Z(m) + widths(m) * rule.nodes(i);
    return rule.weights(i) * std::cos(c.phases(m) + frequencies(m) * (x - Z(m)));
  };
  const FeaturesPtr u = time_frequency_features(kernel, Z, widths, frequencies, c.phases);
  const Vector z = start_of(*u);
  const Matrix Kuu = u->Kuu(theta.data(), z.data());
  const RowMatrix X = Vector::LinSpaced(5, -2.0, 2.0);
  const Matrix Kuf = Kuf_of(*u, theta, z, X);
  const auto k = [&](double a, double b) {
    return kernel_value(kernel, theta, Vector::Constant(1, a), Vector::Constant(1, b));
  };
  for (Index m = 0; m < 3; ++m) {
    for (Index j = 0; j < X.rows(); ++j) {
      double sum = 0.0, x = 0.0;
      for (Index i = 0; i < 80; ++i) {
        const double weight = window(m, i, x);
        sum += weight * k(x, X(j));
      }
      EXPECT_NEAR(Kuf(m, j), sum, 1e-11);
    }
    for (Index n = 0; n <= m; ++n) {
      double sum = 0.0, x = 0.0, y = 0.0;
      for (Index i = 0; i < 80; ++i)
        for (Index j = 0; j < 80; ++j) {
          const double weight = window(m, i, x) * window(n, j, y);
          sum += weight * k(x, y);
        }
      EXPECT_NEAR(Kuu(m, n), sum, 1e-11);
    }
  }
}

// Of two columns the integral over the first point is over Kuf, which has its own.
TEST(WindowFeatures, P29IntegralsOfTwoColumns) {
  const Kernel kernel = se(true, {1.3, {0.8, 1.6}});
  const Vector theta = kernel.parameters(2).values();
  const Case c;
  constexpr Index nodes = 120;
  const FeaturesPtr u = time_frequency_features(kernel, c.Z, c.widths, c.frequencies, c.phases);
  const Vector z = start_of(*u);
  const QuadratureRule rule = gauss_hermite(nodes);
  const Matrix Kuu = u->Kuu(theta.data(), z.data());
  for (Index m = 0; m < 3; ++m) {
    RowMatrix X(nodes * nodes, 2);
    Vector weights(nodes * nodes);
    for (Index i = 0; i < nodes; ++i)
      for (Index j = 0; j < nodes; ++j) {
        const Index at = nodes * i + j;
        X.row(at) << c.Z(m, 0) + c.widths(m, 0) * rule.nodes(i),
            c.Z(m, 1) + c.widths(m, 1) * rule.nodes(j);
        weights(at) = rule.weights(i) * rule.weights(j) *
                      std::cos(c.phases(m) + c.frequencies.row(m).dot(X.row(at) - c.Z.row(m)));
      }
    const RowMatrix here = RowMatrix::Constant(1, 2, 0.25);
    EXPECT_NEAR(Kuf_of(*u, theta, z, here)(m, 0), cross(kernel, theta, X, here).col(0).dot(weights),
                1e-11);
    const Vector row = Kuf_of(*u, theta, z, X) * weights;
    EXPECT_LT((row - Kuu.col(m)).cwiseAbs().maxCoeff(), 1e-11);
  }
}

TEST(WindowFeatures, P29Limits) {
  const Kernel kernel = se(true, {1.3, {0.8, 1.6}}) + white(0.1);
  const Vector theta = kernel.parameters(2).values();
  const Case c;
  const RowMatrix X = Random(4).normal_matrix(6, 2), none = RowMatrix::Zero(3, 2);
  const auto same = [&](const FeaturesPtr& a, const FeaturesPtr& b, double tolerance) {
    const Vector za = start_of(*a), zb = start_of(*b);
    EXPECT_LT(
        (a->Kuu(theta.data(), za.data()) - b->Kuu(theta.data(), zb.data())).cwiseAbs().maxCoeff(),
        tolerance);
    EXPECT_LT((Kuf_of(*a, theta, za, X) - Kuf_of(*b, theta, zb, X)).cwiseAbs().maxCoeff(),
              tolerance);
  };
  const FeaturesPtr scales = multiscale_features(kernel, c.Z, c.widths);
  same(multiscale_features(kernel, c.Z, RowMatrix::Constant(3, 2, 1e-8)),
       inducing_points(kernel, c.Z), 1e-14);
  same(time_frequency_features(kernel, c.Z, c.widths, none, Vector::Zero(3)), scales, 1e-15);
  const Vector centre = Vector::Zero(2), wide = Vector::Constant(2, 0.9);
  same(frequency_features(kernel, centre, wide, c.frequencies, c.phases),
       time_frequency_features(kernel, none, RowMatrix::Constant(3, 2, 0.9), c.frequencies,
                               c.phases),
       1e-15);
}

TEST(WindowFeatures, GradientsAndOrder) {
  const Case c;
  const RowMatrix X = Random(5).normal_matrix(4, 2);
  for (const Kernel& kernel :
       {Kernel(se(true, {1.3, {0.8, 1.6}})), Kernel(se(false, {0.7, {1.1}}) + constant(0.3))}) {
    const Vector theta = kernel.parameters(2).values();
    check_features(*multiscale_features(kernel, c.Z, c.widths), kernel, theta, X);
    check_features(*time_frequency_features(kernel, c.Z, c.widths, c.frequencies, c.phases), kernel,
                   theta, X);
    check_features(*frequency_features(kernel, Vector::Constant(2, 0.1), Vector::Constant(2, 0.9),
                                       c.frequencies, c.phases),
                   kernel, theta, X);
  }
}

TEST(WindowFeatures, Refuses) {
  const Case c;
  EXPECT_THROW(multiscale_features("matern32", c.Z, c.widths), InputError);
  EXPECT_THROW(multiscale_features("se + linear", c.Z, c.widths), InputError);
  EXPECT_THROW(multiscale_features("se", c.Z, RowMatrix::Zero(3, 2)), InputError);
  EXPECT_THROW(multiscale_features("se", c.Z, c.widths.topRows(2)), InputError);
  EXPECT_THROW(multiscale_features("se", RowMatrix(0, 2), RowMatrix(0, 2)), InputError);
}

// Sums of windows: with one each they are the windows, and of narrow ones sums of points.
TEST(WindowFeatures, Sums) {
  const Kernel kernel = "se(ard) + white";
  const Vector theta = (Vector(4) << 1.3, 0.8, 1.1, 0.1).finished();
  const RowMatrix Z = Random(3).normal_matrix(6, 2), X = Random(4).normal_matrix(5, 2),
                  widths = RowMatrix::Constant(6, 2, 0.4), w = Random(5).normal_matrix(3, 2);
  const FeaturesPtr u = multiscale_basis_features(kernel, Z, widths, w);
  EXPECT_EQ(u->size(), 3);
  check_features(*u, kernel, theta, X);
  const FeaturesPtr one = multiscale_basis_features(kernel, Z, widths, RowMatrix::Ones(6, 1)),
                    own = multiscale_features(kernel, Z, widths);
  EXPECT_EQ(Kuf_of(*one, theta, start_of(*one), X), Kuf_of(*own, theta, start_of(*own), X));
  const FeaturesPtr narrow =
                        multiscale_basis_features(kernel, Z, RowMatrix::Constant(6, 2, 1e-6), w),
                    points = basis_features(kernel, Z, w);
  EXPECT_LT(
      (Kuf_of(*narrow, theta, start_of(*narrow), X) - Kuf_of(*points, theta, start_of(*points), X))
          .cwiseAbs()
          .maxCoeff(),
      1e-10);
  EXPECT_THROW(multiscale_basis_features(kernel, Z, widths, RowMatrix::Ones(3, 1)), InputError);
  EXPECT_THROW(multiscale_basis_features(kernel, Z, widths, RowMatrix::Zero(3, 2)), InputError);
}

}  // namespace
}  // namespace covary
