#include "covary/inference/multi_function_model.hpp"

#include <gtest/gtest.h>

#include "covary/error.hpp"
#include "covary/inference/slice_sampling.hpp"
#include "covary/random/random.hpp"
#include "inference/function_case.hpp"
#include "inference/inducing_posterior.hpp"
#include "inference/multi_function_case.hpp"
#include "inference/site_posterior.hpp"

namespace covary {
namespace {

double bound(const MultiFunctionModel& m, const MultiFunctionParameters& p,
             MultiFunctionParameters* g) {
  return variational_approximation(m, p, g).value;
}

// KL(N(h, S) ‖ N(0, K)) from the matrices themselves.
double dense_kl(const Matrix& K, const FunctionPosterior& q) {
  const Cholesky factor = cholesky(K);
  const Matrix S = K - product(K, product(q.factor.dense(), K));
  const Vector h = multiply(K, q.alpha);
  return 0.5 * (factor.solve(S).trace() + dot(h, factor.solve(h)) - static_cast<double>(h.size()) +
                factor.log_determinant() - cholesky(S).log_determinant());
}

TEST(MultiFunction, OneLatentFunctionIsTheOneLatentModel) {
  for (const char* l : {"bernoulli(logit)", "student_t(scale=0.7)", "poisson"}) {
    SCOPED_TRACE(l);
    const testing::LatentCase c = testing::latent_case(l, 20);
    const MultiFunctionModel m{{c.model.kernel}, c.model.likelihood, c.model.mean,
                               c.model.X,        c.model.y,          c.model.aux};
    const MultiFunctionParameters at{{c.at.kernel}, c.at.likelihood, c.at.mean_weights};
    FunctionParameters g;
    MultiFunctionParameters gs;
    const auto one = variational_approximation(c.model, c.at, &g);
    const auto several = variational_approximation(m, at, &gs);
    EXPECT_EQ(several.value, one.value);
    EXPECT_EQ(several.mean.col(0), one.mean);
    EXPECT_LE((gs.kernels[0] - g.kernel).cwiseAbs().maxCoeff(), 1e-12);
    EXPECT_LE((gs.mean_weights.col(0) - g.mean_weights).cwiseAbs().maxCoeff(), 1e-12);
    EXPECT_EQ(gs.likelihood, g.likelihood);
    const RowMatrix X_new = Random(9).normal_matrix(4, 2);
    EXPECT_EQ(several.posterior[0].predict(X_new).variance, one.posterior.predict(X_new).variance);
  }
}

TEST(MultiFunction, GradientsOfEverything) {
  struct Case {
    const char* likelihood;
    Index kernels;
  };
  for (const auto& [l, kernels] :
       {Case{"softmax(3)", 1}, Case{"softmax(3)", 3}, Case{"robust_max(3, epsilon=0.05)", 3},
        Case{"heteroscedastic(variance=0.3)", 1}, Case{"heteroscedastic(variance=0.3)", 2}}) {
    SCOPED_TRACE(::testing::Message() << l << " with " << kernels << " kernels");
    testing::expect_multi_latent_gradient(testing::multi_latent_case(l, kernels, 21), bound);
  }
}

// The value from the dense matrices, and the two conditions of the optimum.
TEST(MultiFunction, BoundAndOptimum) {
  for (const char* l : {"softmax(3)", "robust_max(3, epsilon=0.05)", "heteroscedastic"}) {
    SCOPED_TRACE(l);
    const auto c = testing::multi_latent_case(l, 1, 22);
    const MultiFunctionApproximation q = variational_approximation(c.model, c.at);
    std::vector<Index> rows;
    for (Index n = 0; n < c.model.y.size(); ++n)
      if (!std::isnan(c.model.y(n))) rows.push_back(n);
    const Expectations e =
        expectations(c.model.likelihood, c.at.likelihood, c.model.y(rows), q.mean, q.variance);
    double value = e.value.sum();
    for (std::size_t k = 0; k < q.posterior.size(); ++k) {
      const FunctionPosterior& p = q.posterior[k];
      value -= dense_kl(gram(p.kernel, p.parameters.kernel, p.X), p);
      const auto column = static_cast<Index>(k);
      EXPECT_LE((p.alpha - e.mean_bar.col(column)).cwiseAbs().maxCoeff(), 1e-8);
      EXPECT_LE((p.lambda + 2.0 * e.variance_bar.col(column)).cwiseAbs().maxCoeff(), 1e-8);
    }
    EXPECT_NEAR(q.value, value, 1e-8);
  }
}

// Two classes of one kernel k are one label of g = f₁ − f₀ ~ GP(0, 2k). The product q(f₀)q(f₁)
// cannot say that f₀ + f₁ is left as it was, so its bound is lower.
TEST(MultiFunction, TwoClassesAndOneLabel) {
  testing::ThreePoints s;
  const MultiFunctionModel two{{"se"}, "softmax(2)", {}, s.model.X, s.model.y};
  const MultiFunctionParameters at{{s.at.kernel}, Vector(), Matrix()};
  const auto q = variational_approximation(two, at);
  s.at.kernel(0) *= 2.0;
  const auto label = variational_approximation(s.model, s.at);
  EXPECT_LT(q.value, label.value);
  EXPECT_GT(q.value, label.value - 0.5);
  EXPECT_LE((q.mean.col(0) + q.mean.col(1)).cwiseAbs().maxCoeff(), 1e-9);

  // With f₀ all but zero, f₁ is g and the bounds are one.
  const MultiFunctionModel still{{"se", "se"}, "softmax(2)", {}, s.model.X, s.model.y};
  const MultiFunctionParameters near{
      {(Vector(2) << 1e-9, 1.0).finished(), s.at.kernel}, Vector(), Matrix()};
  const auto p = variational_approximation(still, near);
  EXPECT_NEAR(p.value, label.value, 1e-8);
  EXPECT_LE((p.mean.col(1) - label.mean).cwiseAbs().maxCoeff(), 1e-7);
  EXPECT_LE((p.variance.col(1) - label.variance).cwiseAbs().maxCoeff(), 1e-7);
}

// The three labels of f₁ − f₀ ~ GP(0, 2k) have an evidence that is known.
TEST(MultiFunction, T11_BelowTheExactEvidence) {
  const testing::ThreePoints s;
  const MultiFunctionModel two{{"se"}, "softmax(2)", {}, s.model.X, s.model.y};
  const MultiFunctionParameters at{{(Vector(2) << 1.0, 1.0).finished()}, Vector(), Matrix()};
  const double bound = variational_approximation(two, at).value;
  EXPECT_LT(bound, testing::three_points_exact);
  EXPECT_GT(bound, testing::three_points_exact - 0.1);
}

// The referee: means of the exact posterior by slice sampling. Its standard errors are below 0.02.
TEST(MultiFunction, MeansAreThoseOfSamples) {
  struct Case {
    const char* likelihood;
    Vector y, theta;
    double tolerance;  // means are below 1.2; that of a product is off for heteroscedastic
  };
  for (const Case& c : {Case{"softmax(3)", (Vector(4) << 0, 1, 2, 2).finished(), Vector(), 0.04},
                        Case{"heteroscedastic", (Vector(4) << 0.5, -0.4, 0.9, 1.4).finished(),
                             Vector::Constant(1, 0.5), 0.12}}) {
    SCOPED_TRACE(c.likelihood);
    const RowMatrix X = (RowMatrix(4, 1) << -1, 0, 1.5, 2).finished();
    const MultiFunctionModel m{{"se"}, c.likelihood, {}, X, c.y};
    const MultiFunctionParameters at{{(Vector(2) << 1.0, 1.0).finished()}, c.theta, Matrix()};
    SliceSamplingOptions options;
    options.samples = 40000;
    const MultiFunctionSamples samples = elliptical_slice_samples(m, at, options);
    const auto q = variational_approximation(m, at);
    for (Index l = 0; l < q.mean.cols(); ++l) {
      const Vector mean = samples.f[static_cast<std::size_t>(l)].colwise().mean();
      EXPECT_LE((mean - q.mean.col(l)).cwiseAbs().maxCoeff(), c.tolerance);
    }
  }
}

// Noise whose logarithm cannot move is that of exact regression.
TEST(MultiFunction, SteadyNoiseIsExactRegression) {
  auto c = testing::multi_latent_case("heteroscedastic(variance=0.3)", 2, 23);
  c.at.kernels[1](0) = 1e-10;
  c.at.mean_weights << 0.2, 0.1;
  testing::LatentCase exact{
      {c.model.kernels[0], "gaussian", "constant", c.model.X, c.model.y},
      {c.at.kernels[0], Vector::Constant(1, 0.3 * std::exp(0.1)), Vector::Constant(1, 0.2)}};
  MultiFunctionParameters g;
  FunctionParameters e;
  const auto q = variational_approximation(c.model, c.at, &g);
  const auto p = variational_approximation(exact.model, exact.at, &e);
  EXPECT_NEAR(q.value, p.value, 1e-8);
  EXPECT_LE((q.mean.col(0) - p.mean).cwiseAbs().maxCoeff(), 1e-8);
  EXPECT_LE((g.kernels[0] - e.kernel).cwiseAbs().maxCoeff(), 1e-7);
}

// A sine with little noise up to x = 3 and much beyond.
MultiFunctionModel uneven_noise() {
  const Index N = 80;
  Random random(4);
  RowMatrix X(N, 1);
  Vector y(N);
  for (Index n = 0; n < N; ++n) {
    X(n, 0) = 6.0 * static_cast<double>(n) / static_cast<double>(N - 1);
    y(n) = std::sin(X(n, 0)) + (X(n, 0) < 3.0 ? 0.05 : 0.8) * random.normal();
  }
  return {{"se"}, "heteroscedastic(variance=0.1)", {}, X, y};
}

TEST(MultiFunction, NoiseIsLearntWhereItIs) {
  const MultiFunctionParameters at{
      {(Vector(2) << 2.0, 1.0).finished()}, Vector::Constant(1, 0.1), Matrix()};
  const SitePosterior q(variational_approximation(uneven_noise(), at).posterior);
  const FunctionMarginals f = q.marginals((RowMatrix(2, 1) << 1.0, 5.0).finished());
  EXPECT_GT(f.mean(1, 1) - f.mean(0, 1), 2.0);
  EXPECT_NEAR(f.mean(0, 0), std::sin(1.0), 0.1);
}

// E exp(−f₂) under this prior would be 1e21, so the iteration must not begin there.
TEST(MultiFunction, WidePriorOfTheNoise) {
  MultiFunctionModel m = uneven_noise();
  m.kernels = {"se", "se"};
  const MultiFunctionParameters at{
      {(Vector(2) << 2.0, 1.0).finished(), (Vector(2) << 100.0, 2.0).finished()},
      Vector::Constant(1, 0.1),
      Matrix()};
  const auto q = variational_approximation(m, at);
  EXPECT_LE(q.iterations, 100);
  EXPECT_GT(q.mean.col(1).maxCoeff() - q.mean.col(1).minCoeff(), 2.0);
}

// Strongly coupled classes: without extrapolation this takes hundreds of steps.
TEST(MultiFunction, ConfidentClassesSettle) {
  auto c = testing::multi_latent_case("softmax(3)", 1, 25, 40);
  for (Index n = 0; n < 40; ++n)
    c.model.y(n) = c.model.X(n, 0) > 0.4 ? 2 : (c.model.X(n, 0) > -0.4 ? 1 : 0);
  c.at.kernels[0](0) = 30.0;
  EXPECT_LE(variational_approximation(c.model, c.at).iterations, 120);
}

TEST(MultiFunction, BadInput) {
  auto c = testing::multi_latent_case("softmax(3)", 1, 24);
  MultiFunctionModel m = c.model;
  m.kernels = {"se(ard)", "se(ard)"};
  EXPECT_THROW(variational_approximation(m, c.at), InputError);
  MultiFunctionParameters p = c.at;
  p.mean_weights.resize(1, 2);
  EXPECT_THROW(variational_approximation(c.model, p), InputError);
  p = c.at;
  p.kernels.push_back(p.kernels[0]);
  EXPECT_THROW(variational_approximation(c.model, p), InputError);
  m = c.model;
  m.y(0) = 3.0;
  EXPECT_THROW(variational_approximation(m, c.at), InputError);
}

// Three classes that functions tell apart without error.
MultiFunctionModel separable(const char* likelihood) {
  MultiFunctionModel m{{"se"}, likelihood, {}, Random(31).normal_matrix(80, 2), Vector(80)};
  for (Index n = 0; n < 80; ++n) {
    const double a = m.X(n, 0), b = m.X(n, 1);
    const Eigen::Vector3d f(2.0 * std::sin(2.0 * a), 2.0 * std::cos(2.0 * b), a * b);
    Index largest = 0;
    f.maxCoeff(&largest);
    m.y(n) = static_cast<double>(largest);
  }
  return m;
}

// Functions that step each by itself took hundreds or thousands of steps here: what two classes
// have in common moves as slowly as the prior is wide.
TEST(MultiFunction, FewStepsDoUnderAWidePrior) {
  struct Case {
    const char* likelihood;
    double variance;
  };
  for (const auto& [l, variance] : {Case{"softmax(3)", 1.0}, Case{"softmax(3)", 1000.0},
                                    Case{"robust_max(3)", 1.0}, Case{"robust_max(3)", 100.0}}) {
    SCOPED_TRACE(::testing::Message() << l << ", variance " << variance);
    const MultiFunctionModel m = separable(l);
    const MultiFunctionParameters at{
        {Eigen::Vector2d(variance, 0.8)}, m.likelihood.parameters().values(), Matrix(0, 0)};
    const MultiFunctionApproximation q = variational_approximation(m, at);
    EXPECT_LT(q.iterations, 150);
    const Expectations e = expectations(m.likelihood, at.likelihood, m.y, q.mean, q.variance);
    for (Index k = 0; k < 3; ++k) {
      const FunctionPosterior& p = q.posterior[static_cast<std::size_t>(k)];
      const Vector sd = q.variance.col(k).cwiseSqrt();
      EXPECT_LE((p.alpha - e.mean_bar.col(k)).cwiseProduct(sd).cwiseAbs().maxCoeff(), 1e-6);
    }
  }
}

// Only which function is the largest matters: the bound does not know their scale.
TEST(MultiFunction, RobustMaxDoesNotKnowTheVariance) {
  const MultiFunctionModel m = separable("robust_max(3)");
  MultiFunctionParameters at{{Eigen::Vector2d(1.0, 0.8)}, Vector::Constant(1, 1e-3), Matrix(0, 0)};
  MultiFunctionParameters gradient;
  const double one = variational_approximation(m, at, &gradient).value;
  EXPECT_NEAR(gradient.kernels[0](0), 0.0, 1e-5);
  at.kernels[0](0) = 50.0;
  EXPECT_NEAR(variational_approximation(m, at).value, one, 1e-7);
}

}  // namespace
}  // namespace covary
