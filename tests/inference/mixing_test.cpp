// P outputs from F latent functions through a mixing W.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numbers>

#include "covary/error.hpp"
#include "covary/inference/natural_gradient.hpp"
#include "covary/linalg/blas.hpp"
#include "covary/linalg/cholesky.hpp"
#include "support/gradient_check.hpp"

namespace covary {
namespace {

constexpr double missing = std::numeric_limits<double>::quiet_NaN();

struct Mixed {
  Kernel kernel = "se(ard)";
  Likelihood likelihood = "gaussian";
  Mean mean;
  RowMatrix X, Y;
  FeaturesPtr features;
  UncollapsedValues values;
  Vector theta;  // of the likelihood
  Matrix W;

  // P outputs (N×P, or labels of a likelihood with several latent functions) of F functions.
  Mixed(Index N, Index M, Index P, Index F, std::uint64_t seed, const char* l = "gaussian")
      : likelihood(l) {
    Random random(seed);
    X = random.normal_matrix(N, 2);
    Y = random.normal_matrix(N, P);
    for (Index i = 0; i < N; ++i)
      for (Index p = 0; p < P && likelihood.classes() > 0; ++p)
        Y(i, p) = static_cast<double>(random.integer(likelihood.classes()));
    const RowMatrix Z = random.normal_matrix(M, 2);
    features = inducing_points(kernel, Z);
    values.theta = {Vector(Vector::LinSpaced(3, 0.8, 1.4))};
    values.z = {Vector(Eigen::Map<const Vector>(Z.data(), Z.size()))};
    theta = Vector::Constant(likelihood.parameter_count(), 0.3);
    set_functions(F, random);
    W = random.normal_matrix(likelihood.functions() * P, F);
  }
  void set_functions(Index F, Random& random) {
    const Index M = features->size();
    values.q.m = random.normal_matrix(M, F);
    values.q.Ls.clear();
    for (Index f = 0; f < F; ++f) {
      Matrix L = 0.2 * random.normal_matrix(M, M);
      L.triangularView<Eigen::StrictlyUpper>().setZero();
      L.diagonal() = L.diagonal().cwiseAbs().array() + 0.4;
      values.q.Ls.push_back(L);
    }
  }
  // `use`, of the problem and its jitter.
  template <class Use>
  auto with(const Use& use) const {
    const MemoryRows rows(X, Y, Vector());
    const Sweep sweep = Sweep::for_features(rows, features->size());
    UncollapsedProblem problem;
    problem.parts = {{features.get(), &kernel}};
    problem.mean = &mean;
    problem.sweep = &sweep;
    problem.likelihood = row_likelihood(likelihood, theta);
    problem.likelihood.mixing = W;
    Jitter jitter;
    return use(problem, jitter);
  }
  UncollapsedEvaluation evaluate(UncollapsedGradient* g = nullptr) const {
    return with([&](const UncollapsedProblem& p, Jitter& j) {
      return evaluate_uncollapsed(p, values, j, g);
    });
  }
};

// The identity, written out, is no mixing at all.
TEST(Mixing, IdentityIsTheDefault) {
  for (const char* likelihood : {"gaussian", "bernoulli", "softmax(3)"}) {
    SCOPED_TRACE(likelihood);
    const Index L = Likelihood(likelihood).functions();
    Mixed t(30, 5, 2, 2 * L, 3, likelihood);
    t.mean = "linear";
    t.values.mean_weights = Random(4).normal_matrix(3, 2 * L);
    t.Y(3, 1) = missing;
    t.W = Matrix::Identity(2 * L, 2 * L);
    UncollapsedGradient a, b;
    const double explicitly = t.evaluate(&a).value;
    t.W = Matrix();
    EXPECT_NEAR(t.evaluate(&b).value, explicitly, 1e-12 * std::abs(explicitly));
    EXPECT_LT((a.g - b.g).cwiseAbs().maxCoeff(), 1e-12 * b.g.cwiseAbs().maxCoeff());
    EXPECT_LT((a.z_bar[0] - b.z_bar[0]).cwiseAbs().maxCoeff(), 1e-10);
    EXPECT_LT((a.mean_bar - b.mean_bar).cwiseAbs().maxCoeff(), 1e-10);
    EXPECT_EQ(b.mixing_bar.size(), 0);
  }
}

// Without mixing the outputs do not see each other: the bound is the sum of those of each.
TEST(Mixing, OutputsWithoutMixingAreFitsOfTheirOwn) {
  for (const char* likelihood : {"gaussian", "softmax(3)"}) {
    SCOPED_TRACE(likelihood);
    const Index L = Likelihood(likelihood).functions();
    Mixed t(40, 6, 3, 3 * L, 5, likelihood);
    t.W = Matrix();
    t.Y(3, 1) = t.Y(7, 2) = t.Y(8, 2) = missing;
    double sum = 0.0;
    for (Index p = 0; p < 3; ++p) {
      Mixed own = t;
      own.Y = t.Y.col(p);
      own.values.q.m = t.values.q.m.middleCols(p * L, L);
      own.values.q.Ls.assign(t.values.q.Ls.begin() + p * L, t.values.q.Ls.begin() + (p + 1) * L);
      sum += own.evaluate().value;
    }
    EXPECT_NEAR(t.evaluate().value, sum, 1e-12 * std::abs(sum));
  }
}

// All values end to end: θ, z, the likelihood's, W, weights of the mean, m and the factors.
Vector flat(const Mixed& t) {
  std::vector<double> all;
  const auto add = [&](const auto& v) { all.insert(all.end(), v.data(), v.data() + v.size()); };
  add(t.values.theta[0]);
  add(t.values.z[0]);
  add(t.theta);
  add(t.W);
  add(t.values.mean_weights);
  add(t.values.q.m);
  for (const Matrix& L : t.values.q.Ls) add(L);
  return Eigen::Map<const Vector>(all.data(), static_cast<Index>(all.size()));
}
void set_flat(Mixed& t, const Vector& x) {
  const double* at = x.data();
  const auto take = [&](auto& v) {
    std::copy_n(at, v.size(), v.data());
    at += v.size();
  };
  take(t.values.theta[0]);
  take(t.values.z[0]);
  take(t.theta);
  take(t.W);
  take(t.values.mean_weights);
  take(t.values.q.m);
  for (Matrix& L : t.values.q.Ls) take(L);
}

TEST(Mixing, Gradients) {
  for (const char* likelihood : {"gaussian", "student_t", "softmax(3)"}) {
    SCOPED_TRACE(likelihood);
    Mixed t(25, 4, 3, 2, 7, likelihood);
    t.theta = Vector::LinSpaced(t.theta.size(), 0.4, 3.0);
    t.mean = "linear";
    t.values.mean_weights = Random(4).normal_matrix(3, t.W.rows());
    t.Y(3, 1) = t.Y(7, 2) = t.Y(8, 2) = missing;
    UncollapsedGradient g;
    t.evaluate(&g);
    Mixed bar = t;
    bar.values.theta[0] = g.theta_bar[0];
    bar.values.z[0] = g.z_bar[0];
    bar.theta = g.likelihood_bar;
    bar.W = g.mixing_bar;
    bar.values.mean_weights = g.mean_bar;
    bar.values.q.m = g.m_bar;
    bar.values.q.Ls = g.Ls_bar;
    Vector own = flat(bar);
    const Vector at = flat(t);
    // Of factors the entries above the diagonal are not there.
    expect_gradient(
        [&](const Vector& x) {
          Mixed moved = t;
          set_flat(moved, x);
          for (Matrix& L : moved.values.q.Ls) L.triangularView<Eigen::StrictlyUpper>().setZero();
          return moved.evaluate().value;
        },
        own, at);
  }
}

// With the inducing inputs at the rows and Gaussian noise the best q of functions that no output
// shares gives log N(vec Y; 0, Σ_f w_f w_fᵀ ⊗ K + σ²I) over what is observed.
TEST(Mixing, BestQAtTheRowsIsTheExactEvidence) {
  Mixed t(14, 14, 3, 2, 9);
  t.Y(3, 1) = t.Y(7, 2) = missing;
  t.values.z[0] = Eigen::Map<const Vector>(t.X.data(), t.X.size());
  const Matrix K = gram(t.kernel, t.values.theta[0], t.X), S = t.W * t.W.transpose();
  std::vector<std::pair<Index, Index>> seen;
  for (Index p = 0; p < 3; ++p)
    for (Index i = 0; i < 14; ++i)
      if (!std::isnan(t.Y(i, p))) seen.emplace_back(i, p);
  const auto n = static_cast<Index>(seen.size());
  Matrix C(n, n), y(n, 1);
  for (Index a = 0; a < n; ++a) {
    const auto [i, p] = seen[static_cast<std::size_t>(a)];
    y(a, 0) = t.Y(i, p);
    for (Index b = 0; b < n; ++b) {
      const auto [j, r] = seen[static_cast<std::size_t>(b)];
      C(a, b) = S(p, r) * K(i, j) + (a == b ? t.theta(0) : 0.0);
    }
  }
  const Cholesky factor = cholesky(C);
  const double exact = -0.5 * (static_cast<double>(n) * std::log(2.0 * std::numbers::pi) +
                               factor.log_determinant() + (y.transpose() * factor.solve(y))(0, 0));
  const double best = t.with([&](const UncollapsedProblem& p, Jitter& j) {
    NaturalGaussian q(14, 2);
    QOptions options;
    options.conjugate = true;
    const QOptimum out = maximise_q(p, t.values, q, j, nullptr, options);
    EXPECT_TRUE(out.converged);
    return out.at.value;
  });
  // q is a product over functions, which the posterior of mixed ones is not: a bound, and tight
  // where each output has a function of its own.
  EXPECT_LT(best, exact);
  t.W = Matrix::Zero(3, 3);
  t.W.diagonal() << 0.7, -1.2, 0.4;
  const Matrix D = t.W * t.W.transpose();
  for (Index a = 0; a < n; ++a)
    for (Index b = 0; b < n; ++b) {
      const auto [i, p] = seen[static_cast<std::size_t>(a)];
      const auto [j, r] = seen[static_cast<std::size_t>(b)];
      C(a, b) = D(p, r) * K(i, j) + (a == b ? t.theta(0) : 0.0);
    }
  const Cholesky apart = cholesky(C);
  const double evidence = -0.5 * (static_cast<double>(n) * std::log(2.0 * std::numbers::pi) +
                                  apart.log_determinant() + (y.transpose() * apart.solve(y))(0, 0));
  const double bound = t.with([&](const UncollapsedProblem& p, Jitter& j) {
    NaturalGaussian q(14, 3);
    QOptions options;
    options.conjugate = true;
    return maximise_q(p, t.values, q, j, nullptr, options).at.value;
  });
  EXPECT_NEAR(bound, evidence, 1e-6 * std::abs(evidence));
}

// The steps of q end where the bound is stationary in it.
TEST(Mixing, BestQIsStationary) {
  for (const char* likelihood : {"gaussian", "bernoulli", "softmax(3)"}) {
    SCOPED_TRACE(likelihood);
    Mixed t(40, 5, 3, 2, 11, likelihood);
    t.Y(3, 1) = missing;
    UncollapsedGradient g;
    t.with([&](const UncollapsedProblem& p, Jitter& j) {
      NaturalGaussian q(5, 2);
      QOptions options;
      options.conjugate = t.likelihood.node().conjugate();
      const QOptimum out = maximise_q(p, t.values, q, j, &g, options);
      EXPECT_TRUE(out.converged);
      return 0;
    });
    EXPECT_LT(g.m_bar.cwiseAbs().maxCoeff(), 1e-5);
    for (const Matrix& bar : g.Ls_bar) EXPECT_LT(bar.cwiseAbs().maxCoeff(), 1e-5);
  }
}

TEST(Mixing, RefusesAnotherNumberOfRows) {
  Mixed t(10, 4, 3, 2, 1);
  t.W = Matrix::Ones(2, 2);
  EXPECT_THROW(t.evaluate(), InputError);
}

}  // namespace
}  // namespace covary
