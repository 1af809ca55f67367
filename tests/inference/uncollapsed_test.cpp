#include "covary/inference/uncollapsed.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "covary/error.hpp"
#include "covary/linalg/blas.hpp"
#include "covary/linalg/parallel.hpp"
#include "support/gradient_check.hpp"
#include "support/random_data.hpp"

namespace covary {
namespace {

constexpr double missing = std::numeric_limits<double>::quiet_NaN();

// A likelihood whose derivative by the variance has either sign and that has two parameters: not a
// density, but all that the sweep asks for. E = a·y·mean − ½a·mean² + b·sin(y)·variance.
RowExpectation odd_expectation(double a, double b) {
  return [a, b](const RowTerms& t) {
    for (Index i = 0; i < t.n; ++i) {
      const double y = t.y[i], m = t.mean[i], v = t.variance[i];
      t.value[i] = a * y * m - 0.5 * a * m * m + b * std::sin(y) * v;
      t.mean_bar[i] = a * (y - m);
      t.variance_bar[i] = b * std::sin(y);
      t.parameters_bar[0] += y * m - 0.5 * m * m;
      t.parameters_bar[1] += std::sin(y) * v;
    }
  };
}

struct Case {
  Kernel kernel = "se(ard) + white(variance=0.02)";
  RowMatrix X, Y, Z;
  Vector point_noise;
  Mean mean;
  UncollapsedValues values;
  FeaturesPtr features;
  double noise = 0.13;

  Case(Index N, Index M, Index D, Index P, std::uint64_t seed) {
    auto data = testing::small_data(N, D, P, seed);
    X = std::move(data.X);
    Y = std::move(data.Y);
    Random random(seed, 1);
    Z = random.normal_matrix(M, D);
    features = inducing_points(kernel, Z);
    values.theta = {kernel.parameters(D).values()};
    values.z = {Vector(Eigen::Map<const Vector>(Z.data(), Z.size()))};
    values.q.m = random.normal_matrix(M, P);
    for (Index p = 0; p < P; ++p) {
      Matrix L = 0.3 * random.normal_matrix(M, M);
      L.triangularView<Eigen::StrictlyUpper>().setZero();
      L.diagonal() = L.diagonal().cwiseAbs().array() + 0.4;
      values.q.Ls.push_back(L);
    }
  }
  void add_everything() {
    mean = "linear";
    values.mean_weights = Matrix::Constant(X.cols() + 1, Y.cols(), 0.2);
    point_noise = Vector::LinSpaced(X.rows(), 0.05, 0.5);
    Y(3, 0) = Y(9, 1) = Y(10, 1) = missing;
  }
  UncollapsedEvaluation evaluate(UncollapsedGradient* g = nullptr,
                                 const RowExpectation& expectation = {},
                                 Index parameters = 1) const {
    return batch(X, Y, point_noise, 1.0, g, expectation, parameters);
  }
  UncollapsedEvaluation batch(const RowMatrix& x, const RowMatrix& y, const Vector& s, double scale,
                              UncollapsedGradient* g = nullptr,
                              const RowExpectation& expectation = {}, Index parameters = 1) const {
    const MemoryRows rows(x, y, s);
    const Sweep sweep = Sweep::for_features(rows, features->size());
    const UncollapsedProblem problem{
        {{features.get(), &kernel}},
        &mean,
        &sweep,
        scale,
        {expectation ? expectation : gaussian_expectation(noise), parameters}};
    Jitter j;
    return evaluate_uncollapsed(problem, values, j, g);
  }
  SparseEvaluation vfe() const {
    const MemoryRows rows(X, Y, point_noise);
    const Sweep sweep = Sweep::for_features(rows, features->size());
    const SparseProblem problem{"vfe", features.get(), &kernel,
                                &mean, &sweep,         columns_by_pattern(rows)};
    Jitter j;
    return evaluate_sparse(problem, {values.theta[0], values.z[0], noise, values.mean_weights}, j);
  }
};

// P13: with the best q the bound is the collapsed one, any other q gives less.
TEST(Uncollapsed, P13BestQGivesVfe) {
  Case t(80, 8, 2, 2, 5);
  t.add_everything();
  const SparseEvaluation vfe = t.vfe();
  EXPECT_LT(t.evaluate().value, vfe.value);
  const WhitenedGaussian best = optimal_q(vfe.factors, 2);
  t.values.q = best;
  UncollapsedGradient g;
  EXPECT_NEAR(t.evaluate(&g).value, vfe.value, 1e-10 * std::abs(vfe.value));
  EXPECT_LT(g.m_bar.cwiseAbs().maxCoeff(), 1e-9);
  for (const Matrix& bar : g.Ls_bar) EXPECT_LT(bar.cwiseAbs().maxCoeff(), 1e-9);
  Random random(1);
  for (int i = 0; i < 10; ++i) {
    t.values.q = best;
    t.values.q.m += 1e-3 * random.normal_matrix(8, 2);
    EXPECT_LT(t.evaluate().value, vfe.value);
    t.values.q = best;
    Matrix move = 1e-3 * random.normal_matrix(8, 8);
    move.triangularView<Eigen::StrictlyUpper>().setZero();
    t.values.q.Ls[1] += move;
    EXPECT_LT(t.evaluate().value, vfe.value);
  }
}

// Row by row from its definition.
TEST(Uncollapsed, ValueFromTheDefinition) {
  Case t(30, 5, 2, 1, 7);
  const Matrix Kuu = t.features->Kuu(t.values.theta[0].data(), t.values.z[0].data());
  Matrix A = cross(t.kernel, t.values.theta[0], t.Z, t.X);
  solve_lower(cholesky(Kuu).L, A);
  const Vector k = diagonal(t.kernel, t.values.theta[0], t.X);
  const Matrix S = product(t.values.q.Ls[0], t.values.q.Ls[0], Op::none, Op::transpose);
  double fit = 0.0;
  for (Index i = 0; i < 30; ++i) {
    const Vector a = A.col(i);
    const double m = dot(a, t.values.q.m.col(0));
    const double v = k(i) - dot(a, a) + dot(a, multiply(S, a));
    const double e = t.Y(i, 0) - m;
    fit += -0.5 * std::log(2 * M_PI * t.noise) - (e * e + v) / (2 * t.noise);
  }
  const double kl =
      0.5 * (S.trace() + t.values.q.m.squaredNorm() - 5 - cholesky(S).log_determinant());
  const UncollapsedEvaluation e = t.evaluate();
  EXPECT_NEAR(e.fit, fit, 1e-10 * std::abs(fit));
  EXPECT_NEAR(e.kl, kl, 1e-10);
  EXPECT_DOUBLE_EQ(e.value, e.fit - e.kl);
}

// P14: the minibatches of a partition, each scaled to the whole, average to the bound of the whole.
TEST(Uncollapsed, P14MinibatchesAverageToTheWhole) {
  const Case t(60, 6, 2, 1, 9);
  UncollapsedGradient whole;
  const double value = t.evaluate(&whole).value;
  double mean = 0.0;
  Vector z_bar = Vector::Zero(t.values.z[0].size());
  Matrix Ls_bar = Matrix::Zero(6, 6);
  for (Index b = 0; b < 5; ++b) {
    UncollapsedGradient g;
    mean +=
        0.2 *
        t.batch(t.X.middleRows(12 * b, 12), t.Y.middleRows(12 * b, 12), Vector(), 5.0, &g).value;
    z_bar += 0.2 * g.z_bar[0];
    Ls_bar += 0.2 * g.Ls_bar[0];
  }
  EXPECT_NEAR(mean, value, 1e-12 * std::abs(value));
  EXPECT_LT((z_bar - whole.z_bar[0]).cwiseAbs().maxCoeff(),
            1e-11 * whole.z_bar[0].cwiseAbs().maxCoeff());
  EXPECT_LT((Ls_bar - whole.Ls_bar[0]).cwiseAbs().maxCoeff(),
            1e-11 * whole.Ls_bar[0].cwiseAbs().maxCoeff());
}

// All values end to end: θ, z, likelihood parameters, mean weights, m and the triangles of Ls.
struct Flat {
  Vector x;
  Index at = 0;
  void add(const Vector& v) {
    const Index n = x.size();
    x.conservativeResize(n + v.size());
    x.tail(v.size()) = v;
  }
  void add(const Matrix& m) { add(Vector(Eigen::Map<const Vector>(m.data(), m.size()))); }
  void add_lower(const Matrix& L) {
    for (Index j = 0; j < L.cols(); ++j) add(Vector(L.col(j).tail(L.rows() - j)));
  }
  void take(Vector& v) { v = x.segment(std::exchange(at, at + v.size()), v.size()); }
  void take(Matrix& m) {
    for (Index i = 0; i < m.size(); ++i) m.data()[i] = x(at++);
  }
  void take_lower(Matrix& L) {
    for (Index j = 0; j < L.cols(); ++j)
      for (Index i = j; i < L.rows(); ++i) L(i, j) = x(at++);
  }
};

void check_gradients(const Case& t, const Vector& likelihood,
                     const std::function<RowExpectation(const Vector&)>& make) {
  Flat values, bars;
  UncollapsedGradient g;
  t.evaluate(&g, make(likelihood), likelihood.size());
  values.add(t.values.theta[0]);
  values.add(t.values.z[0]);
  values.add(likelihood);
  values.add(t.values.mean_weights);
  values.add(t.values.q.m);
  for (const Matrix& L : t.values.q.Ls) values.add_lower(L);
  bars.add(g.theta_bar[0]);
  bars.add(g.z_bar[0]);
  bars.add(g.likelihood_bar);
  bars.add(g.mean_bar);
  bars.add(g.m_bar);
  for (const Matrix& L : g.Ls_bar) {
    EXPECT_EQ(Matrix(L.triangularView<Eigen::StrictlyUpper>()).cwiseAbs().maxCoeff(), 0.0);
    bars.add_lower(L);
  }
  expect_gradient(
      [&](const Vector& x) {
        Flat from{x};
        Case moved = t;
        Vector parameters = likelihood;
        from.take(moved.values.theta[0]);
        from.take(moved.values.z[0]);
        from.take(parameters);
        from.take(moved.values.mean_weights);
        from.take(moved.values.q.m);
        for (Matrix& L : moved.values.q.Ls) from.take_lower(L);
        return moved.evaluate(nullptr, make(parameters), parameters.size()).value;
      },
      bars.x, values.x);
}

TEST(Uncollapsed, GradientsMatchDifferences) {
  const auto gaussian = [](const Vector& x) { return gaussian_expectation(x(0)); };
  const auto odd = [](const Vector& x) { return odd_expectation(x(0), x(1)); };
  Case t(24, 4, 2, 2, 21);
  for (const bool everything : {false, true}) {
    if (everything) t.add_everything();
    check_gradients(t, Vector::Constant(1, 0.3), gaussian);
    check_gradients(t, Vector::LinSpaced(2, 0.7, 0.4), odd);
  }
}

TEST(Uncollapsed, ScaleMultipliesTheRowsOnly) {
  const Case t(20, 3, 1, 1, 3);
  const UncollapsedEvaluation one = t.batch(t.X, t.Y, Vector(), 1.0);
  const UncollapsedEvaluation three = t.batch(t.X, t.Y, Vector(), 3.0);
  EXPECT_DOUBLE_EQ(three.fit, 3.0 * one.fit);
  EXPECT_EQ(three.kl, one.kl);
}

TEST(Uncollapsed, SameBitsForAnyThreads) {
  const Case t(2000, 140, 2, 2, 77);  // several strips of every M×M matrix
  set_threads(1);
  UncollapsedGradient first;
  const double value = t.evaluate(&first).value;
  for (const int n : {2, 3, 7}) {
    set_threads(n);
    UncollapsedGradient g;
    EXPECT_EQ(t.evaluate(&g).value, value);
    EXPECT_EQ(g.z_bar, first.z_bar);
    EXPECT_EQ(g.theta_bar, first.theta_bar);
    EXPECT_EQ(g.likelihood_bar, first.likelihood_bar);
    EXPECT_EQ(g.m_bar, first.m_bar);
    EXPECT_EQ(g.Ls_bar, first.Ls_bar);
  }
  set_threads(0);
}

TEST(Uncollapsed, SomethingBesideIsDoneOnceAndSeesTheTermsOfQ) {
  const Case t(300, 150, 2, 2, 78);
  UncollapsedGradient plain;
  const double value = t.evaluate(&plain).value;
  for (const int n : {1, 3})
    for (const bool of_parameters : {false, true}) {
      set_threads(n);
      UncollapsedGradient g;
      g.of_parameters = of_parameters;
      int calls = 0;
      double told = 0.0;
      Matrix seen_g;
      std::vector<Matrix> seen_H;
      g.beside = [&](double bound) {
        ++calls;
        told = bound;
        seen_g = g.g;
        seen_H = g.H;
      };
      EXPECT_EQ(t.evaluate(&g).value, told);
      EXPECT_EQ(calls, 1);
      EXPECT_NEAR(told, value, 1e-10 * std::abs(value));
      EXPECT_EQ(seen_g, g.g);
      EXPECT_EQ(seen_H, g.H);
      if (!of_parameters) continue;
      EXPECT_EQ(g.theta_bar, plain.theta_bar);
      EXPECT_EQ(g.z_bar, plain.z_bar);
    }
  set_threads(0);
}

TEST(Uncollapsed, Refusals) {
  const Case t(20, 3, 1, 2, 1);
  EXPECT_THROW(gaussian_expectation(0.0), InputError);
  EXPECT_THROW(t.batch(t.X, t.Y, Vector(), 0.0), InputError);
  Case bad = t;
  bad.values.q.Ls.pop_back();
  EXPECT_THROW(bad.evaluate(), InputError);
  bad = t;
  bad.values.q.m = Matrix::Zero(2, 2);
  EXPECT_THROW(bad.evaluate(), InputError);
  bad = t;
  bad.values.q.Ls[0](1, 1) = 0.0;
  EXPECT_THROW(bad.evaluate(), InputError);
}

}  // namespace
}  // namespace covary
