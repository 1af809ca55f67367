#include "inference/gaussian_rows.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "covary/error.hpp"
#include "covary/inference/exact.hpp"
#include "covary/linalg/parallel.hpp"
#include "covary/random/random.hpp"
#include "support/gradient_check.hpp"

namespace covary {
namespace {

RowMatrix rows_of(Index n, Index d, std::initializer_list<double> values) {
  RowMatrix out(n, d);
  std::copy(values.begin(), values.end(), out.data());
  return out;
}

// Four rows, two latent dimensions, three inducing inputs and two outputs, with values computed by
// 40-point quadrature and by finite differences elsewhere.
struct Case {
  Kernel kernel = "se(ard)";
  RowMatrix M = rows_of(4, 2, {.1, -.4, .8, .3, -1.2, .5, .6, -.9});
  RowMatrix S = rows_of(4, 2, {.05, .2, .3, .1, .15, .4, .25, .08});
  RowMatrix Z = rows_of(3, 2, {0, 0, 1, -.5, -1, .7});
  RowMatrix Y = rows_of(4, 2, {.5, -.2, 1.1, .4, -.7, .9, .3, -1.0});
  Mean mean;
  Matrix weights;  // of the mean
  Vector theta;
  double noise = 0.2;

  Case() : theta(3) { theta << 1.3, 1.0 / std::sqrt(0.7), 1.0 / std::sqrt(2.1); }
  FeaturesPtr features() const { return inducing_points(kernel, Z); }
  SparseValues values() const {
    return {theta, Eigen::Map<const Vector>(Z.data(), Z.size()), noise, weights};
  }
  SparseEvaluation evaluate(SweepGradient* g = nullptr, GaussianRowGradient* rows = nullptr,
                            Jitter* jitter = nullptr) const {
    const GaussianRows source(M, S, Y);
    const Sweep sweep(source, 64);
    const FeaturesPtr f = features();
    const SparseProblem problem{"vfe", f.get(), &kernel, &mean, &sweep, columns_by_pattern(source)};
    Jitter j;
    return evaluate_gaussian_rows(problem, values(), jitter ? *jitter : j, g, rows);
  }
};

TEST(GaussianRows, ExpectationsOfTheFixture) {
  const Case t;
  const RowBlock Z{t.Z.data(), 3, 2, 2};
  const GaussianBlock x{{t.M.data(), 4, 2, 2}, t.S.data()};
  const auto psi = GaussianExpectations::make(t.kernel, t.theta.data(), Z);
  Vector psi0(4);
  psi->psi0(x, psi0.data());
  EXPECT_EQ(psi0, Vector::Constant(4, 1.3));
  const RowMatrix expected =
      rows_of(4, 3,
              {0.949465213203, 0.809391705447, 0.291107711257, 0.825736770827, 0.609450075559,
               0.366304929041, 0.500968111516, 0.111233349456, 0.879908847693, 0.481274203188,
               0.916300013351, 0.051827244829});
  Matrix psi1(3, 4);
  psi->psi1(x, psi1.data());
  EXPECT_LT((psi1.transpose() - expected).cwiseAbs().maxCoeff(), 1e-12);

  Matrix psi2 = Matrix::Zero(3, 3);
  psi->psi2(x, psi2);
  EXPECT_NEAR(psi2(0, 0), 2.38448606046, 1e-11);
  EXPECT_NEAR(psi2(1, 0), 1.872133411546, 1e-12);
  EXPECT_NEAR(psi2(2, 0), 1.147772096005, 1e-12);
  EXPECT_NEAR(psi2(1, 1), 2.080572714700, 1e-12);
  EXPECT_NEAR(psi2(2, 1), 0.535011248253, 1e-12);
  EXPECT_NEAR(psi2(2, 2), 1.222044095863, 1e-12);
}

TEST(GaussianRows, BoundOfTheFixture) {
  Case t;
  SweepGradient g;
  GaussianRowGradient rows;
  const SparseEvaluation e = t.evaluate(&g, &rows);
  EXPECT_EQ(e.jitter, 0.0);
  EXPECT_NEAR(e.value, -21.0490302633, 1e-9);
  // β = 1/σ² and w = 1/ℓ²
  EXPECT_NEAR(-g.noise_bar * t.noise * t.noise, -2.51494290703, 1e-8);
  EXPECT_NEAR(-0.5 * g.theta_bar(1) * std::pow(t.theta(1), 3), -3.5264833759, 1e-8);
  EXPECT_NEAR(g.theta_bar(0), -8.7837625779, 1e-8);
  EXPECT_NEAR(rows.mean_bar(0, 0), 1.4226831016, 1e-8);
  EXPECT_NEAR(rows.variance_bar(0, 0), -1.5001248104, 1e-8);
  EXPECT_NEAR(g.z_bar(0), 1.5773744760, 1e-8);

  t.Z = rows_of(4, 2, {0, 0, 1, -.5, -1, .7, .5, .5});
  EXPECT_NEAR(t.evaluate().value, -18.5020118929, 1e-9);
  t.Z = rows_of(5, 2, {0, 0, 1, -.5, -1, .7, .5, .5, -.3, -.8});
  EXPECT_NEAR(t.evaluate().value, -16.7223431777, 1e-9);
}

// Without input variance the rows are points.
TEST(GaussianRows, NoVarianceIsVfe) {
  Case t;
  t.S.setZero();
  const SparseEvaluation e = t.evaluate();
  EXPECT_NEAR(e.value, -15.949574304, 1e-9);
  const MemoryRows rows(t.M, t.Y, Vector());
  const Sweep sweep(rows, 64);
  const FeaturesPtr features = t.features();
  const SparseProblem problem{"vfe", features.get(), &t.kernel, &t.mean, &sweep, {{0, 1}}};
  Jitter j;
  const SparseEvaluation points = evaluate_sparse(problem, t.values(), j);
  EXPECT_NEAR(e.value, points.value, 1e-12 * std::abs(points.value));
  EXPECT_LT((e.factors[0].LB - points.factors[0].LB).cwiseAbs().maxCoeff(), 1e-12);
  EXPECT_LT((e.factors[0].c - points.factors[0].c).cwiseAbs().maxCoeff(), 1e-12);
  t.Z = t.M;
  EXPECT_NEAR(t.evaluate().value, -9.61353297044, 1e-9);
}

void check_gradients(const Case& t) {
  const Index K = t.theta.size(), Zs = t.Z.size(), X = t.M.size();
  SweepGradient g;
  GaussianRowGradient rows;
  t.evaluate(&g, &rows);
  Vector x(K + Zs + 1 + 2 * X), gradient(x.size());
  const auto flat = [](const RowMatrix& m) {
    return Vector(Eigen::Map<const Vector>(m.data(), m.size()));
  };
  x << t.theta, flat(t.Z), t.noise, flat(t.M), flat(t.S);
  gradient << g.theta_bar, g.z_bar, g.noise_bar, flat(rows.mean_bar), flat(rows.variance_bar);
  expect_gradient(
      [&](const Vector& v) {
        Case moved = t;
        moved.theta = v.head(K);
        const auto fill = [&](RowMatrix& m, Index at) {
          std::copy_n(v.data() + at, m.size(), m.data());
        };
        fill(moved.Z, K);
        moved.noise = v(K + Zs);
        fill(moved.M, K + Zs + 1);
        fill(moved.S, K + Zs + 1 + X);
        return moved.evaluate().value;
      },
      gradient, x);
}

TEST(GaussianRows, GradientsMatchDifferences) {
  Case t;
  check_gradients(t);
  t.Y(2, 1) = std::numeric_limits<double>::quiet_NaN();
  check_gradients(t);
  for (const char* kernel : {"se + white", "se(ard) + linear(ard) + constant", "se + se(ard)",
                             "se@0 * linear@1 + white", "matern32 + se@1"}) {
    SCOPED_TRACE(kernel);
    t.kernel = kernel;
    const Index n = t.kernel.parameter_count(2);
    t.theta = Vector::LinSpaced(n, 0.6, 1.4);
    check_gradients(t);
  }
}

// y − c is what the bound of y with a constant mean c sees.
TEST(GaussianRows, ConstantMeanIsAShiftOfTheOutputs) {
  Case t, shifted;
  t.mean = "constant";
  t.weights = (Matrix(1, 2) << 0.4, -0.7).finished();
  shifted.Y.rowwise() -= t.weights.row(0);
  t.Y(2, 1) = shifted.Y(2, 1) = std::numeric_limits<double>::quiet_NaN();
  EXPECT_NEAR(t.evaluate().value, shifted.evaluate().value, 1e-12);
  check_gradients(t);
  SweepGradient g;
  t.evaluate(&g);
  expect_gradient(
      [&](const Vector& c) {
        Case moved = t;
        moved.weights.row(0) = c.transpose();
        return moved.evaluate().value;
      },
      Vector(g.mean_bar.row(0).transpose()), Vector(t.weights.row(0).transpose()));
}

TEST(GaussianRows, SameBitsForAnyThreads) {
  Case t;
  Random random(5);
  t.M = random.normal_matrix(700, 2);
  t.S = random.normal_matrix(700, 2).cwiseAbs();
  t.Y = random.normal_matrix(700, 2);
  t.Z = random.normal_matrix(15, 2);
  set_threads(1);
  SweepGradient first;
  GaussianRowGradient first_rows;
  const double value = t.evaluate(&first, &first_rows).value;
  for (const int n : {2, 3, 7}) {
    set_threads(n);
    SweepGradient g;
    GaussianRowGradient rows;
    EXPECT_EQ(t.evaluate(&g, &rows).value, value);
    EXPECT_EQ(g.theta_bar, first.theta_bar);
    EXPECT_EQ(g.z_bar, first.z_bar);
    EXPECT_EQ(rows.mean_bar, first_rows.mean_bar);
    EXPECT_EQ(rows.variance_bar, first_rows.variance_bar);
  }
  set_threads(0);
}

// Inducing inputs so near that Ψ2 would lose its digits although Kuu can be factored: jitter climbs
// until it does not.
TEST(GaussianRows, JitterKeepsRhoSmall) {
  Case t;
  t.Z = rows_of(4, 2, {0, 0, 3e-6, 0, 1, -.5, -1, .7});
  const SparseValues v = t.values();
  EXPECT_EQ(cholesky(t.features()->Kuu(v.theta.data(), v.z.data())).jitter, 0.0);
  Jitter jitter;
  const SparseEvaluation e = t.evaluate(nullptr, nullptr, &jitter);
  EXPECT_GT(e.jitter, 0.0);
  EXPECT_TRUE(jitter.raised);
  EXPECT_LE(e.terms.rho, 1e-4);
  // A pair of near inputs knows a slope; jitter hides some of that and never adds to it.
  EXPECT_GT(e.value, -21.0490302633);
  t.Z(1, 0) = 1e-3;
  EXPECT_LT(e.value, t.evaluate().value);
}

// Once it is needed, jitter is u·tr(ψ2)/(σ²·1e-4) and moves with the parameters, and so does the
// gradient: by a share that differences see, in a direction that changes the jitter most.
TEST(GaussianRows, GradientKnowsHowJitterMoves) {
  Case t;
  Random random(11);
  const Index N = 400, M = 12;
  t.M = random.normal_matrix(N, 2);
  t.S = RowMatrix::Constant(N, 2, 0.01);
  t.Z = 0.3 * random.normal_matrix(M, 2);
  t.Y = (t.M.array() * 2.0).sin() + t.M.array();
  t.theta << 1.0, 3.0, 3.0;
  t.noise = 0.1;
  const auto at = [&](double log_scale, SweepGradient* g = nullptr) {
    Case moved = t;
    moved.noise *= std::exp(log_scale);
    Jitter needed;
    needed.rung = 1e-12;
    return moved.evaluate(g, nullptr, &needed);
  };
  SweepGradient g;
  const SparseEvaluation e = at(0.0, &g);
  EXPECT_GT(e.jitter, 1e-8);
  EXPECT_NEAR(e.terms.rho, 1e-4, 1e-5);
  EXPECT_NEAR(at(0.7).jitter * std::exp(0.7), e.jitter, 1e-3 * e.jitter);
  // Of eighth order, over steps so long that the rounding which ρ = 1e-4 leaves does not show.
  const double h = 0.25, weights[] = {4.0 / 5.0, -1.0 / 5.0, 4.0 / 105.0, -1.0 / 280.0};
  double slope = 0.0;
  for (int k = 0; k < 4; ++k)
    slope += weights[k] / h * (at((k + 1) * h).value - at(-(k + 1) * h).value);
  EXPECT_NEAR(g.noise_bar * t.noise, slope, 1e-5 * std::abs(slope));
  // With the jitter of this point held the slope is another one.
  const auto held = [&](double log_scale) {
    Case moved = t;
    moved.noise *= std::exp(log_scale);
    Jitter fixed{e.jitter};
    return moved.evaluate(nullptr, nullptr, &fixed).value;
  };
  EXPECT_GT(std::abs((held(h) - held(-h)) / (2.0 * h) - slope), 1e-2 * std::abs(slope));
}

// Memory for Ψ2 of the rows ends at a limit, whatever there was before.
TEST(GaussianRows, KeepsPsi2WhileItIsSmall) {
  KeptPsi2 kept;
  EXPECT_EQ(kept.of(0, 0), nullptr);
  kept.reserve(10, 8, 2);
  ASSERT_NE(kept.of(0, 0), nullptr);
  EXPECT_EQ(kept.of(1, 3) - kept.of(0, 0), (10 + 3) * 8);
  kept.reserve(KeptPsi2::most_bytes / 8 / 1000 + 1, 1000, 1);
  EXPECT_EQ(kept.of(0, 0), nullptr);
  kept.reserve(Index{1} << 40, Index{1} << 40, 1);
  EXPECT_EQ(kept.of(0, 0), nullptr);
  kept.reserve(5, 8, 1);
  EXPECT_NE(kept.of(0, 0), nullptr);
}

TEST(GaussianRows, Refusals) {
  Case t;
  t.S(1, 1) = -0.1;
  EXPECT_THROW(t.evaluate(), InputError);
  t = Case();
  t.S = RowMatrix::Ones(3, 2);
  EXPECT_THROW(t.evaluate(), InputError);
  t = Case();
  t.noise = 0.0;
  EXPECT_THROW(t.evaluate(), InputError);
  t = Case();
  t.mean = "constant";  // without weights
  EXPECT_THROW(t.evaluate(), InputError);
  t.mean = "linear";
  EXPECT_THROW(t.evaluate(), Unsupported);

  t = Case();
  const MemoryRows points(t.M, t.Y, Vector());
  const Sweep sweep(points, 64);
  const FeaturesPtr features = t.features();
  SparseProblem problem{"vfe", features.get(), &t.kernel, &t.mean, &sweep, {{0, 1}}};
  Jitter j;
  EXPECT_THROW(evaluate_gaussian_rows(problem, t.values(), j), InputError);
  problem.approximation = "fitc";
  EXPECT_THROW(evaluate_gaussian_rows(problem, t.values(), j), Unsupported);
}

}  // namespace
}  // namespace covary
