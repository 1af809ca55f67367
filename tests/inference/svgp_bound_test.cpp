// The uncollapsed bound of every kind of likelihood: several latent functions, separate kernels,
// weights, the column beside y.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "covary/error.hpp"
#include "inference/svgp_case.hpp"
#include "support/gradient_check.hpp"

namespace covary {
namespace {

using testing::SvgpCase;

void expect_gradients(const SvgpCase& t) {
  UncollapsedGradient g;
  t.evaluate(&g);
  expect_gradient([&](const Vector& x) { return t.at(x).evaluate().value; }, SvgpCase::flat(g),
                  t.flat());
}

TEST(SvgpBound, T25GradientsMatchDifferences) {
  for (const char* l : {"bernoulli(logit)", "softmax(3)", "robust_max(3)", "heteroscedastic"})
    for (const bool separate : {false, true}) {
      SCOPED_TRACE(l);
      SvgpCase t(l, separate, 16, 3, 21);
      t.Y(5, 0) = std::numeric_limits<double>::quiet_NaN();
      expect_gradients(t);
    }
}

TEST(SvgpBound, T25GradientsWithWeightsAndTheColumnBesideY) {
  for (const char* l :
       {"gaussian", "poisson", "binomial", "negative_binomial", "heteroscedastic"}) {
    SCOPED_TRACE(l);
    SvgpCase t(l, false, 16, 3, 22);
    t.add_aux();
    t.add_weights();
    expect_gradients(t);
  }
}

TEST(SvgpBound, WeightsCountRowsAsOften) {
  SvgpCase t("heteroscedastic", true, 12, 4, 6);
  SvgpCase twice = t;
  t.weights = Vector::Ones(12);
  t.weights.head(5).setConstant(2.0);
  t.weights(9) = 0.0;
  twice.X.resize(16, 2);
  twice.Y.resize(16, 1);
  twice.X << t.X.topRows(9), t.X.bottomRows(2), t.X.topRows(5);
  twice.Y << t.Y.topRows(9), t.Y.bottomRows(2), t.Y.topRows(5);
  UncollapsedGradient a, b;
  EXPECT_NEAR(t.evaluate(&a).value, twice.evaluate(&b).value, 1e-11);
  EXPECT_LT((SvgpCase::flat(a) - SvgpCase::flat(b)).cwiseAbs().maxCoeff(), 1e-10);
}

TEST(SvgpBound, TheColumnBesideYReachesTheLikelihood) {
  SvgpCase t("poisson", false, 20, 4, 31);
  const double without = t.evaluate().value;
  t.aux = Vector::Ones(20);
  EXPECT_DOUBLE_EQ(t.evaluate().value, without);  // 1 is the default
  // exposure e·exp(f) is exp(f + log e)
  t.aux.setConstant(2.0);
  const double exposed = t.evaluate().value;
  t.aux = Vector();
  t.values.mean_weights(0, 0) += std::log(2.0);
  EXPECT_NEAR(t.evaluate().value, exposed, 1e-10);
}

// T24, P14: minibatches of an equal partition average to the whole, value and gradient.
TEST(SvgpBound, T24MinibatchesAverageToTheWhole) {
  for (const char* l : {"bernoulli(logit)", "softmax(3)", "student_t"}) {
    SCOPED_TRACE(l);
    const SvgpCase t(l, false, 60, 5, 9);
    UncollapsedGradient whole;
    const double value = t.evaluate(&whole).value;
    double mean = 0.0;
    Vector gradient = Vector::Zero(t.flat().size());
    for (Index b = 0; b < 5; ++b) {
      UncollapsedGradient g;
      mean += 0.2 * t.batch(12 * b, 12, 5.0, &g).value;
      gradient += 0.2 * SvgpCase::flat(g);
    }
    EXPECT_NEAR(mean, value, 1e-10 * std::abs(value));
    const Vector all = SvgpCase::flat(whole);
    EXPECT_LT((gradient - all).cwiseAbs().maxCoeff(), 1e-10 * all.cwiseAbs().maxCoeff());
  }
}

// P45: the Gaussian likelihood is the closed form; a narrow q gives the density at its mean.
TEST(SvgpBound, P45ExpectationsAndTheirLimits) {
  const double y[] = {1.0, 0.0}, m[] = {0.7, -1.2}, v[] = {1.3, 0.4}, narrow[] = {1e-12, 1e-12};
  double value[2], m_bar[2], v_bar[2], closed[2], theta_bar[1] = {0}, closed_bar[1] = {0};
  const auto ask = [&](const RowExpectation& e, const double* variance, double* to, double* bar) {
    e({2, y, nullptr, nullptr, m, variance, 2, to, m_bar, v_bar, nullptr, bar});
  };
  ask(row_likelihood("gaussian", Vector::Constant(1, 0.3)).expectation, v, value, theta_bar);
  ask(gaussian_expectation(0.3), v, closed, closed_bar);
  for (int i = 0; i < 2; ++i) EXPECT_NEAR(value[i], closed[i], 1e-13);
  EXPECT_NEAR(theta_bar[0], closed_bar[0], 1e-12);
  ask(row_likelihood("bernoulli(logit)", Vector()).expectation, narrow, value, nullptr);
  for (int i = 0; i < 2; ++i)
    EXPECT_NEAR(value[i], -std::log1p(std::exp((1.0 - 2.0 * y[i]) * m[i])), 1e-11);
  // robust-max: probabilities that sum to one and match draws
  const Likelihood robust = "robust_max(3)";
  const Matrix mean = (Matrix(1, 3) << 0.4, 0.1, -0.5).finished(),
               variance = (Matrix(1, 3) << 0.5, 1.5, 0.2).finished();
  const Matrix p = class_probabilities(robust, robust.parameters().values(), mean, variance);
  EXPECT_NEAR(p.sum(), 1.0, 1e-12);
  Random random(4);
  const int draws = 100000;
  double wins = 0.0;
  for (int i = 0; i < draws; ++i) {
    double f[3];
    for (Index k = 0; k < 3; ++k) f[k] = mean(0, k) + std::sqrt(variance(0, k)) * random.normal();
    wins += f[0] > f[1] && f[0] > f[2];
  }
  const double pi = wins / draws, expected = 0.999 * pi + 0.0005 * (1.0 - pi);
  EXPECT_NEAR(p(0, 0), expected, 4.0 * std::sqrt(pi * (1.0 - pi) / draws));
}

TEST(SvgpBound, Refusals) {
  SvgpCase t("softmax(3)", false, 10, 3, 1);
  SvgpCase two = t;
  two.Y = RowMatrix::Zero(10, 2);
  EXPECT_THROW(two.evaluate(), InputError);
  SvgpCase kernels = t;
  kernels.kernels.push_back("se");
  kernels.features.push_back(inducing_points("se", RowMatrix::Zero(3, 2)));
  EXPECT_THROW(kernels.evaluate(), InputError);  // values for one kernel only
  kernels.values.theta.push_back(Vector::Ones(2));
  kernels.values.z.push_back(Vector::LinSpaced(6, 0, 1));
  EXPECT_THROW(kernels.evaluate(), InputError);  // two kernels for three functions
  EXPECT_THROW(row_likelihood("gaussian", Vector()), InputError);
  t.weights = Vector::Ones(9);
  EXPECT_THROW(MemoryRows(t.X, t.Y, Vector(), t.weights), InputError);
}

}  // namespace
}  // namespace covary
