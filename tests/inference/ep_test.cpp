#include "covary/inference/ep.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "covary/error.hpp"
#include "inference/function_case.hpp"

namespace covary {
namespace {

testing::LatentMethod ep(double power, double damping = 1.0) {
  return [=](const FunctionModel& m, const FunctionParameters& p, FunctionParameters* g) {
    EpOptions options;
    options.power = power;
    options.damping = damping;
    return expectation_propagation(m, p, g, options);
  };
}

// T4's exact evidence: EP is nearest of all, and powers towards zero approach T7's bound.
TEST(ExpectationPropagation, T4_ThreePoints) {
  const testing::ThreePoints s;
  EXPECT_NEAR(expectation_propagation(s.model, s.at).value, testing::three_points_exact, 2e-4);
  EXPECT_NEAR(ep(0.01)(s.model, s.at, nullptr).value, -2.349964004616, 2e-5);
}

// What defines the fixed point: q without site n, times p(y_n | f)^α, has q's moments.
TEST(ExpectationPropagation, MomentsMatch) {
  for (const double power : {1.0, 0.5}) {
    const testing::LatentCase c = testing::latent_case("poisson", 41);
    const FunctionApproximation q = ep(power)(c.model, c.at, nullptr);
    Index n = 0;
    for (Index row = 0; row < c.model.y.size(); ++row) {
      if (std::isnan(c.model.y(row))) continue;
      const double tau = q.posterior.lambda(n), h = q.mean(n) - 0.2;
      const double v = 1.0 / (1.0 / q.variance(n) - power * tau);
      const double nu = q.posterior.alpha(n) + tau * h;
      const double m = 0.2 + v * (h / q.variance(n) - power * nu);
      const Tilted t =
          tilted_moments(c.model.likelihood, {c.model.y(row), 1.0, nullptr}, power, m, v);
      EXPECT_NEAR(m + v * t.first, q.mean(n), 1e-8);
      EXPECT_NEAR(v + v * v * t.second, q.variance(n), 1e-8);
      ++n;
    }
    EXPECT_EQ(n, q.mean.size());
  }
}

TEST(ExpectationPropagation, T25_GradientsOfEverything) {
  for (const char* l : {"bernoulli(logit)", "bernoulli(probit)", "student_t(scale=0.7)", "poisson",
                        "negative_binomial(shape=2)", "gamma(shape=2)", "ordinal(4)"})
    for (const double power : {1.0, 0.5}) {
      SCOPED_TRACE(fmt::format("{}, power {}", l, power));
      testing::expect_latent_gradient(testing::latent_case(l, 20), ep(power));
    }
}

TEST(ExpectationPropagation, DampingDoesNotMoveTheFixedPoint) {
  const testing::LatentCase c = testing::latent_case("bernoulli(probit)", 6);
  EXPECT_NEAR(ep(1.0, 0.4)(c.model, c.at, nullptr).value, ep(1.0)(c.model, c.at, nullptr).value,
              1e-9);
}

// Any damping goes without extrapolation.
TEST(ExpectationPropagation, ExtrapolationSavesSweeps) {
  for (const char* l : {"bernoulli(probit)", "poisson"}) {
    SCOPED_TRACE(l);
    const testing::LatentCase c = testing::latent_case(l, 7, 150);
    const FunctionApproximation with = ep(1.0)(c.model, c.at, nullptr);
    const FunctionApproximation without = ep(1.0, 0.999)(c.model, c.at, nullptr);
    EXPECT_NEAR(with.value, without.value, 1e-9);
    EXPECT_LE((with.mean - without.mean).cwiseAbs().maxCoeff(), 1e-7);
    EXPECT_LT(with.iterations, without.iterations);
  }
}

TEST(ExpectationPropagation, GaussianLikelihoodIsExactRegression) {
  testing::expect_exact_regression(ep(1.0));
  testing::expect_exact_regression(ep(0.5));
}
TEST(ExpectationPropagation, MissingTargetsAreLeftOut) {
  testing::expect_missing_left_out(ep(1.0));
}
TEST(ExpectationPropagation, T17_FlippedLabels) { testing::expect_flip_symmetry(ep(1.0)); }

TEST(ExpectationPropagation, BadInput) {
  const testing::ThreePoints s;
  FunctionModel m = s.model;
  m.likelihood = "softmax(3)";
  EXPECT_THROW(expectation_propagation(m, s.at), Unsupported);
  EXPECT_THROW(ep(0.0)(s.model, s.at, nullptr), InputError);
  EXPECT_THROW(ep(1.0, 1.5)(s.model, s.at, nullptr), InputError);
  EpOptions hasty;
  hasty.max_iterations = 1;
  EXPECT_THROW(expectation_propagation(s.model, s.at, nullptr, hasty), NumericalError);
}

}  // namespace
}  // namespace covary
