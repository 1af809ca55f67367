// The reference values of the classification spec, section 3: three labels, se of variance 2.
#include <gtest/gtest.h>

#include "covary/inference/natural_gradient.hpp"
#include "covary/linalg/blas.hpp"
#include "covary/random/random.hpp"
#include "inference/inducing_posterior.hpp"

namespace covary {
namespace {

struct ThreeLabels {
  Kernel kernel = "se";
  Vector theta = (Vector(2) << 2, 1).finished();
  RowMatrix X = (RowMatrix(3, 1) << -1, 0, 1.5).finished();
  RowMatrix Y = (RowMatrix(3, 1) << 1, 0, 1).finished();
  Mean mean;

  template <class Use>
  auto with_problem(const RowMatrix& Z, const Likelihood& likelihood, const Use& use) const {
    const MemoryRows rows(X, Y, Vector());
    const Sweep sweep = Sweep::for_features(rows, Z.rows());
    const FeaturesPtr features = inducing_points(kernel, Z);
    const UncollapsedProblem problem{
        {{features.get(), &kernel}}, &mean, &sweep, 1.0, row_likelihood(likelihood, Vector())};
    return use(problem);
  }
  // q(u) = N(m, S) in whitened form.
  UncollapsedValues whitened(const RowMatrix& Z, const Vector& m, const Matrix& S) const {
    const Matrix L = cholesky(gram(kernel, theta, Z)).L;
    Matrix mean_v = m, S_v = S;
    solve_lower(L, mean_v);
    solve_lower(L, S_v);
    solve_lower_right(L, S_v, Op::transpose);
    return {{theta},
            {Vector(Eigen::Map<const Vector>(Z.data(), Z.size()))},
            {},
            {mean_v, {cholesky(S_v).L}}};
  }
  InducingPosterior posterior(const RowMatrix& Z, const UncollapsedValues& v) const {
    const FeaturesPtr features = inducing_points(kernel, Z);
    return InducingPosterior(
        {{{kernel, theta, features, v.z[0], cholesky(gram(kernel, theta, Z)).L, 0.0}},
         {},
         {},
         v.q});
  }
};

struct T8 : ThreeLabels {
  RowMatrix Z = (RowMatrix(2, 1) << -0.8, 1).finished();
  Vector m = (Vector(2) << 0.5, -0.2).finished();
  Matrix S = (Matrix(2, 2) << 0.6, 0.1, 0.1, 0.5).finished();
  UncollapsedEvaluation evaluate(const char* likelihood, UncollapsedGradient* g = nullptr) const {
    return with_problem(Z, likelihood, [&](const UncollapsedProblem& p) {
      Jitter jitter;
      return evaluate_uncollapsed(p, whitened(Z, m, S), jitter, g);
    });
  }
};

TEST(SvgpReference, T8ValuesAtAGivenQ) {
  const T8 t;
  const FunctionMarginals f = t.posterior(t.Z, t.whitened(t.Z, t.m, t.S)).marginals(t.X);
  const double means[] = {0.50834574984, 0.21907311894, -0.23470061497};
  const double variances[] = {0.65178094568, 0.91508399275, 0.81598894957};
  for (Index i = 0; i < 3; ++i) {
    EXPECT_NEAR(f.mean(i, 0), means[i], 1e-10);
    EXPECT_NEAR(f.variance(i, 0), variances[i], 1e-10);
  }
  const UncollapsedEvaluation logit = t.evaluate("bernoulli(logit)");
  EXPECT_NEAR(logit.fit, -0.54293795806 - 0.91178288609 - 0.90997457478, 1e-10);
  EXPECT_NEAR(logit.kl, 0.653772821003, 1e-11);
  EXPECT_NEAR(logit.value, -3.018468239943, 1e-11);
  EXPECT_NEAR(t.evaluate("bernoulli(probit)").value, -3.536633135864, 1e-10);
  const RowMatrix x = RowMatrix::Constant(1, 1, 0.7);
  const FunctionMarginals there = t.posterior(t.Z, t.whitened(t.Z, t.m, t.S)).marginals(x);
  EXPECT_NEAR(there.mean(0, 0), -0.115127783943, 1e-11);
  EXPECT_NEAR(there.variance(0, 0), 0.602719025417, 1e-11);
  EXPECT_NEAR(class_probabilities("bernoulli(logit)", Vector(), there.mean, there.variance)(0, 1),
              0.474637293412, 1e-10);
  EXPECT_NEAR(class_probabilities("bernoulli(probit)", Vector(), there.mean, there.variance)(0, 1),
              0.463770424474, 1e-10);
}

// The gradients of the spec are those at fixed q(u); ours hold q(v) fixed, v = Luu⁻¹u.
TEST(SvgpReference, T10Gradients) {
  const T8 t;
  UncollapsedGradient g;
  t.evaluate("bernoulli(logit)", &g);
  const Matrix L = cholesky(gram(t.kernel, t.theta, t.Z)).L;
  const UncollapsedValues v = t.whitened(t.Z, t.m, t.S);
  Matrix m_bar = g.m_bar;
  solve_lower(L, m_bar, Op::transpose);
  EXPECT_NEAR(m_bar(0), -0.296851692, 1e-9);
  EXPECT_NEAR(m_bar(1), 0.365749439, 1e-9);
  // ∂/∂S_v = H + ½(S_v⁻¹ − I)
  Matrix S_bar_v = g.H[0] + 0.5 * Cholesky{v.q.Ls[0]}.inverse();
  S_bar_v.diagonal().array() -= 0.5;
  Matrix S_bar = S_bar_v;
  solve_lower(L, S_bar, Op::transpose);
  solve_lower_right(L, S_bar);
  EXPECT_NEAR(S_bar(0, 0), 0.456402079, 1e-9);
  EXPECT_NEAR(S_bar(0, 1), -0.135885403, 1e-9);
  EXPECT_NEAR(S_bar(1, 1), 0.663709295, 1e-9);
  const double expected[] = {-0.370971603, 0.150322446};
  for (Index i = 0; i < 2; ++i) {
    const double h = 1e-5;
    T8 up = t, down = t;
    up.theta(i) += h;
    down.theta(i) -= h;
    const auto a = up.whitened(t.Z, t.m, t.S).q, b = down.whitened(t.Z, t.m, t.S).q;
    const auto squared = [](const Matrix& F) { return product(F, F, Op::none, Op::transpose); };
    const Matrix dm = (a.m - b.m) / (2 * h), dS = (squared(a.Ls[0]) - squared(b.Ls[0])) / (2 * h);
    EXPECT_NEAR(g.theta_bar[0](i) + frobenius(g.m_bar, dm) + frobenius(S_bar_v, dS), expected[i],
                2e-9);
  }
}

TEST(SvgpReference, T12BestBoundsOfGrowingZ) {
  const ThreeLabels t;
  const std::vector<std::pair<std::vector<double>, double>> table = {
      {{-0.8}, -2.63336771},
      {{-0.8, 1.0}, -2.58111228},
      {{-0.8, 1.0, 0.1}, -2.36997984},
      {{-1.0, 0.0, 1.5}, -2.34996400}};
  for (const auto& [z, value] : table) {
    const auto M = static_cast<Index>(z.size());
    const RowMatrix Z = Eigen::Map<const RowMatrix>(z.data(), M, 1);
    t.with_problem(Z, "bernoulli(logit)", [&](const UncollapsedProblem& p) {
      UncollapsedValues v{{t.theta}, {Vector(Z.col(0))}, {}, {}};
      NaturalGaussian q(M, 1);
      Jitter jitter;
      const QOptimum best = maximise_q(p, v, q, jitter, nullptr, {100, 1e-9});
      EXPECT_TRUE(best.converged);
      EXPECT_LT(best.iterations, 30);
      EXPECT_NEAR(best.at.value, value, 1e-8);
      if (M != 2) return;
      const Matrix L = best.at.Luu[0];
      Matrix m = v.q.m, F = v.q.Ls[0];
      multiply_lower(L, m);
      multiply_lower(L, F);
      const Matrix S = product(F, F, Op::none, Op::transpose);
      EXPECT_NEAR(m(0), 0.18485911, 1e-7);
      EXPECT_NEAR(m(1), 0.26901978, 1e-7);
      EXPECT_NEAR(S(0, 0), 1.27286688, 1e-7);
      EXPECT_NEAR(S(1, 0), 0.13173938, 1e-7);
      EXPECT_NEAR(S(1, 1), 1.39974331, 1e-7);
    });
  }
}

TEST(SvgpReference, T13KlIsZeroAtThePriorOnly) {
  const ThreeLabels t;
  const RowMatrix Z = (RowMatrix(2, 1) << -0.8, 1).finished();
  const Matrix Kuu = gram(t.kernel, t.theta, Z);
  const UncollapsedValues prior = t.whitened(Z, Vector::Zero(2), Kuu);
  EXPECT_NEAR(whitened_kl(prior.q), 0.0, 1e-15);
  const FunctionMarginals f = t.posterior(Z, prior).marginals(t.X);
  for (Index i = 0; i < 3; ++i) {
    EXPECT_NEAR(f.mean(i, 0), 0.0, 1e-15);
    EXPECT_NEAR(f.variance(i, 0), 2.0, 1e-14);
  }
  Random random(3);
  for (int i = 0; i < 20; ++i) {
    Matrix F = random.normal_matrix(2, 2);
    F.triangularView<Eigen::StrictlyUpper>().setZero();
    EXPECT_GT(whitened_kl({0.1 * random.normal_matrix(2, 1), {F}}), 0.0);
  }
}

// q(f) from the formula against draws of u ~ q, then of f ~ p(f | u).
TEST(SvgpReference, T14MarginalsMatchMonteCarlo) {
  const T8 t;
  const RowMatrix x = RowMatrix::Constant(1, 1, 0.3);
  const FunctionMarginals f = t.posterior(t.Z, t.whitened(t.Z, t.m, t.S)).marginals(x);
  const Cholesky Kuu = cholesky(gram(t.kernel, t.theta, t.Z));
  const Matrix k = cross(t.kernel, t.theta, t.Z, x);
  const Vector a = Kuu.solve(k);
  const double conditional = 2.0 - dot(a, k.col(0));
  const Matrix F = cholesky(t.S).L;
  Random random(11);
  const Index draws = 200000;
  double sum = 0.0, squares = 0.0;
  for (Index i = 0; i < draws; ++i) {
    const Vector u = t.m + multiply(F, random.normal_vector(2));
    const double y = dot(a, u) + std::sqrt(conditional) * random.normal();
    sum += y;
    squares += y * y;
  }
  const double n = static_cast<double>(draws), mean = sum / n, variance = squares / n - mean * mean;
  EXPECT_NEAR(f.mean(0, 0), mean, 4.0 * std::sqrt(variance / n));
  EXPECT_NEAR(f.variance(0, 0), variance, 4.0 * variance * std::sqrt(2.0 / n));
}

}  // namespace
}  // namespace covary
