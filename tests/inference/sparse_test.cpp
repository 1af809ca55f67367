#include "covary/inference/sparse.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numbers>

#include "covary/error.hpp"
#include "covary/inference/exact.hpp"
#include "covary/linalg/blas.hpp"
#include "covary/linalg/parallel.hpp"
#include "inference/sparse_case.hpp"
#include "support/gradient_check.hpp"

namespace covary {
namespace {

using Case = testing::SparseCase;

// The same by N×N matrices, one output at a time.
double dense_value(const Case& t, const Approximation& a) {
  const Matrix Kuu = t.features->Kuu(t.values.theta.data(), t.values.z.data());
  const Matrix Kuf = cross(t.kernel, t.values.theta, t.Z, t.X);
  const Vector k = diagonal(t.kernel, t.values.theta, t.X);
  const Matrix Q = product(Kuf, cholesky(Kuu).solve(Kuf), Op::transpose);
  Matrix R = t.Y;
  if (!t.mean.is_zero()) R -= product(t.mean.basis(t.X), t.values.mean_weights);
  double total = 0.0;
  for (Index p = 0; p < t.Y.cols(); ++p) {
    std::vector<Index> seen;
    for (Index i = 0; i < t.Y.rows(); ++i)
      if (!std::isnan(t.Y(i, p))) seen.push_back(i);
    const auto n = static_cast<Index>(seen.size());
    Matrix S = Q(seen, seen);
    double term = 0.0;
    for (Index i = 0; i < n; ++i) {
      const Index at = seen[static_cast<std::size_t>(i)];
      const double d = k(at) - Q(at, at);
      const double s = t.values.noise + (t.point_noise.size() ? t.point_noise(at) : 0.0);
      S(i, i) += s;
      using Kind = Approximation::Kind;
      if (a.kind == Kind::vfe) term -= 0.5 * d / s;
      if (a.kind == Kind::vfe_tight) term -= 0.5 * std::log(1 + d / s);
      if (a.kind == Kind::fitc) S(i, i) += d;
      if (a.kind == Kind::pep) {
        S(i, i) += a.alpha * d;
        term -= (1 - a.alpha) / (2 * a.alpha) * std::log(1 + a.alpha * d / s);
      }
    }
    const Vector y = R.col(p)(seen);
    const Cholesky f = cholesky(S);
    total += term - 0.5 * n * std::log(2 * std::numbers::pi) - 0.5 * f.log_determinant() -
             0.5 * dot(y, f.solve(y).col(0));
  }
  return total;
}

const char* const approximations[] = {"sor", "dtc", "fitc", "vfe", "vfe(tight)", "pep(0.4)"};

TEST(Sparse, ValueEqualsDenseAlgebra) {
  for (const char* a : approximations) {
    Case t(70, 9, 2, 2, 5);
    EXPECT_NEAR(t.evaluate(a).value, dense_value(t, a), 1e-9) << a;
    t.Y(3, 0) = t.Y(9, 1) = t.Y(20, 1) = std::numeric_limits<double>::quiet_NaN();
    t.point_noise = Vector::LinSpaced(70, 0.0, 0.5);
    t.mean = "linear";
    t.values.mean_weights = Matrix::Constant(3, 2, 0.2);
    EXPECT_NEAR(t.evaluate(a).value, dense_value(t, a), 1e-9) << a << " with missing outputs";
  }
}

TEST(Sparse, TermsAddUp) {
  for (const char* a : approximations) {
    const Case t(60, 7, 1, 1, 8);
    const SparseEvaluation e = t.evaluate(a);
    EXPECT_NEAR(-e.value, e.terms.complexity + e.terms.fit + e.terms.trace, 1e-10) << a;
  }
}

TEST(Sparse, RoutesAgree) {
  Case t(300, 12, 2, 1, 3, "se(ard)");
  for (const char* a : {"vfe", "dtc"}) {
    SweepGradient safe, other;
    const double value = t.evaluate(a, &safe, Route::safe).value;
    for (const Route r : {Route::fast, Route::stable}) {
      EXPECT_NEAR(t.evaluate(a, &other, r).value, value, 1e-9 * std::abs(value));
      const double scale = std::max(1.0, safe.z_bar.cwiseAbs().maxCoeff());
      EXPECT_LT((other.z_bar - safe.z_bar).cwiseAbs().maxCoeff(), 1e-8 * scale);
      EXPECT_LT((other.theta_bar - safe.theta_bar).cwiseAbs().maxCoeff(),
                1e-8 * std::max(1.0, safe.theta_bar.cwiseAbs().maxCoeff()));
      EXPECT_NEAR(other.noise_bar, safe.noise_bar, 1e-8 * std::abs(safe.noise_bar));
    }
  }
}

void check_gradients(Case t, const Approximation& a, Route route) {
  const Index K = t.values.theta.size(), Zs = t.values.z.size(), W = t.values.mean_weights.size();
  Vector x(K + Zs + 1 + W);
  x << t.values.theta, t.values.z, t.values.noise,
      Eigen::Map<const Vector>(t.values.mean_weights.data(), W);
  const auto at = [&](const Vector& v) {
    Case moved = t;
    moved.values.theta = v.head(K);
    moved.values.z = v.segment(K, Zs);
    moved.values.noise = v(K + Zs);
    moved.values.mean_weights = Eigen::Map<const Matrix>(
        v.data() + K + Zs + 1, t.values.mean_weights.rows(), t.values.mean_weights.cols());
    return moved;
  };
  SweepGradient g;
  t.evaluate(a, &g, route);
  Vector gradient(x.size());
  gradient << g.theta_bar, g.z_bar, g.noise_bar, Eigen::Map<const Vector>(g.mean_bar.data(), W);
  SCOPED_TRACE(a.print());
  expect_gradient([&](const Vector& v) { return at(v).evaluate(a, nullptr, route).value; },
                  gradient, x);
}

TEST(Sparse, GradientsMatchDifferences) {
  for (const char* a : approximations)
    for (const Route route : {Route::safe, Route::stable}) {
      Case t(40, 5, 2, 2, 21);
      t.mean = "linear";
      t.values.mean_weights = Matrix::Constant(3, 2, 0.2);
      check_gradients(t, a, route);
      t.Y(3, 0) = t.Y(9, 1) = t.Y(20, 1) = std::numeric_limits<double>::quiet_NaN();
      t.point_noise = Vector::LinSpaced(40, 0.0, 0.5);
      check_gradients(t, a, route);
    }
}

TEST(Sparse, PointNoiseGradient) {
  for (const char* a : approximations) {
    Case t(30, 5, 1, 1, 2);
    t.point_noise = Vector::LinSpaced(30, 0.05, 0.5);
    SweepGradient g;
    g.want_point_noise = true;
    t.evaluate(a, &g);
    SCOPED_TRACE(a);
    expect_gradient(
        [&](const Vector& s) {
          Case moved = t;
          moved.point_noise = s;
          return moved.evaluate(a).value;
        },
        g.point_noise_bar, t.point_noise);
    EXPECT_NEAR(g.point_noise_bar.sum(), g.noise_bar, 1e-9 * std::abs(g.noise_bar));
  }
}

TEST(Sparse, SameBitsForAnyThreads) {
  const Case t(3000, 40, 2, 1, 77);
  for (const char* a : {"vfe", "fitc"}) {
    SweepGradient first;
    set_threads(1);
    const double value = t.evaluate(a, &first).value;
    for (const int n : {2, 3, 7}) {
      set_threads(n);
      SweepGradient g;
      EXPECT_EQ(t.evaluate(a, &g).value, value);
      EXPECT_EQ(g.z_bar, first.z_bar);
      EXPECT_EQ(g.theta_bar, first.theta_bar);
      EXPECT_EQ(g.noise_bar, first.noise_bar);
    }
    set_threads(0);
  }
}

// P18: inducing inputs at the data give the exact evidence.
TEST(Sparse, P18InducingInputsAtTheData) {
  for (const char* a : approximations) {
    Case t(30, 30, 2, 1, 4, "matern32");
    t.Z = t.X;
    t.features = inducing_points(t.kernel, t.Z);
    t.values.z = Eigen::Map<const Vector>(t.Z.data(), t.Z.size());
    Jitter j;
    const double exact =
        exact_log_evidence(t.kernel, t.values.theta, t.X, t.Y, t.values.noise, Vector(), j);
    EXPECT_NEAR(t.evaluate(a).value, exact, 1e-8 * std::abs(exact)) << a;
  }
}

// P7–P9: VFE ≤ vfe(tight) ≤ exact evidence; VFE ≤ FITC; VFE ≤ DTC.
TEST(Sparse, P7P8P9Order) {
  for (std::uint64_t seed = 0; seed < 10; ++seed) {
    const Case t(50, 6, 2, 1, 100 + 3 * seed, "se");
    Jitter j;
    const double exact =
        exact_log_evidence(t.kernel, t.values.theta, t.X, t.Y, t.values.noise, Vector(), j);
    const double vfe = t.evaluate("vfe").value;
    EXPECT_LE(vfe, t.evaluate("vfe(tight)").value);
    EXPECT_LE(t.evaluate("vfe(tight)").value, exact);
    EXPECT_LE(vfe, t.evaluate("fitc").value);
    EXPECT_LE(vfe, t.evaluate("dtc").value);
  }
}

// P15: power-EP goes from VFE to FITC.
TEST(Sparse, P15PowerEpEnds) {
  const Case t(50, 6, 2, 1, 9, "se");
  EXPECT_NEAR(t.evaluate("pep(1e-7)").value, t.evaluate("vfe").value, 1e-4);
  EXPECT_DOUBLE_EQ(t.evaluate("pep(1)").value, t.evaluate("fitc").value);
}

TEST(Sparse, Refusals) {
  EXPECT_THROW(Approximation("pep(0)"), InputError);
  EXPECT_THROW(Approximation("pep(1.5)"), InputError);
  EXPECT_THROW(Approximation("vef"), InputError);
  EXPECT_THROW(inducing_points("se", RowMatrix(0, 2)), InputError);
  Case t(20, 3, 1, 1, 1);
  t.values.noise = 0.0;
  EXPECT_THROW(t.evaluate("vfe"), InputError);
}

}  // namespace
}  // namespace covary
