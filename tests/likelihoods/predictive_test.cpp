#include "covary/likelihoods/predictive.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "covary/error.hpp"

namespace covary {
namespace {

PredictiveTable table(const char* expression, double mean, double variance, double aux) {
  const Likelihood l(expression);
  const Index L = l.functions();
  return {l, l.parameters().values(), Vector::Constant(L, mean), Vector::Constant(L, variance),
          aux};
}

constexpr double sure = 1e-10;

TEST(PredictiveTable, RealTargets) {
  // The noise and the uncertainty of f add up.
  const PredictiveTable g = table("gaussian(variance=0.36)", 2.0, 0.64, 0.0);
  EXPECT_NEAR(g.quantile(0.975), 2.0 + 1.959963985, 5e-3);
  EXPECT_NEAR(g.at_most(3.0), 0.8413447461, 5e-4);
  EXPECT_EQ(g.below(3.0), g.at_most(3.0));
  EXPECT_FALSE(g.whole_numbers());
  // Quantiles of t with three degrees of freedom: 3.182446 and, of one, 12.7062.
  const PredictiveTable t = table("student_t(scale=2, degrees=3)", 1.0, sure, 0.0);
  EXPECT_NEAR(t.quantile(0.975), 1.0 + 2.0 * 3.182446, 0.02);
  EXPECT_NEAR(table("student_t(degrees=1)", 0.0, sure, 0.0).quantile(0.975), 12.7062, 0.3);
  const PredictiveTable h = table("heteroscedastic(variance=1)", 0.0, sure, 0.0);
  EXPECT_NEAR(h.quantile(0.975), 1.959963985, 5e-3);
}

TEST(PredictiveTable, PositiveAndUnitTargets) {
  const PredictiveTable e = table("exponential", std::log(3.0), sure, 0.0);
  EXPECT_NEAR(e.at_most(6.0), 1.0 - std::exp(-2.0), 5e-4);
  EXPECT_NEAR(e.quantile(0.5), 3.0 * std::log(2.0), 5e-3);
  EXPECT_EQ(e.at_most(-1.0), 0.0);
  // A gamma of shape 2 and mean 1: P(Y ≤ y) = 1 − e^{−2y}(1 + 2y).
  EXPECT_NEAR(table("gamma(shape=2)", 0.0, sure, 0.0).at_most(1.0), 1.0 - 3.0 * std::exp(-2.0),
              2e-4);
  // Beta(2, 2): P(Y ≤ y) = 3y² − 2y³.
  const PredictiveTable b = table("beta(concentration=4)", 0.0, sure, 0.0);
  EXPECT_NEAR(b.at_most(0.25), 3.0 / 16.0 - 2.0 / 64.0, 5e-4);
  EXPECT_NEAR(b.quantile(0.5), 0.5, 1e-3);
}

TEST(PredictiveTable, Counts) {
  const PredictiveTable p = table("poisson", std::log(2.0), sure, 3.0);  // of mean 6
  double sum = 0.0, term = std::exp(-6.0);
  for (int k = 0; k <= 20; term *= 6.0 / ++k) {
    EXPECT_NEAR(p.below(k), sum, 1e-6);
    sum += term;
    EXPECT_NEAR(p.at_most(k), sum, 1e-6);
  }
  EXPECT_TRUE(p.whole_numbers());
  EXPECT_EQ(p.quantile(0.5), 6.0);
  EXPECT_EQ(p.quantile(0.975), 11.0);
  EXPECT_EQ(p.at_most(5.5), p.at_most(5.0));
  // Of ten trials with probability a half.
  const PredictiveTable b = table("binomial", 0.0, sure, 10.0);
  EXPECT_NEAR(b.at_most(2.0), 56.0 / 1024.0, 1e-8);
  EXPECT_NEAR(b.at_most(10.0), 1.0, 1e-12);
  // Counts of ten thousand are nearly Gaussian; none is summed one by one there.
  const PredictiveTable large = table("poisson", std::log(1e4), sure, 1.0);
  EXPECT_NEAR(large.quantile(0.975), 1e4 + 1.96 * 100.0, 3.0);
  EXPECT_NEAR(large.at_most(1e4), 0.5027, 2e-3);
  // An uncertain f: the log of the mean is N(1, 1); half of the counts lie below e or so.
  const PredictiveTable wide = table("poisson", 1.0, 1.0, 1.0);
  EXPECT_NEAR(wide.quantile(0.5), 3.0, 1.0);
  EXPECT_GT(wide.quantile(0.975), 15.0);
  // Nothing but zeros.
  EXPECT_NEAR(table("poisson", -12.0, sure, 1.0).at_most(0.0), 1.0, 1e-4);
}

TEST(PredictiveTable, Shortfall) {
  // Of a Gaussian E max(a − Y, 0) = sd·(zΦ(z) + φ(z)), of an exponential a − μ(1 − e^{−a/μ}).
  EXPECT_NEAR(table("gaussian(variance=0.36)", 2.0, 0.64, 0.0).shortfall(3.0), 1.0833154706, 2e-3);
  const PredictiveTable e = table("exponential", std::log(3.0), sure, 0.0);
  EXPECT_NEAR(e.shortfall(2.0), 2.0 - 3.0 * (1.0 - std::exp(-2.0 / 3.0)), 2e-3);
  EXPECT_EQ(e.shortfall(0.0), 0.0);
  // Of counts the sum over those below a: one by one, and of large counts in steps.
  const PredictiveTable p = table("poisson", std::log(2.0), sure, 3.0);  // of mean 6
  double sum = 0.0, term = std::exp(-6.0);
  for (int k = 0; k < 7; term *= 6.0 / ++k) sum += (7 - k) * term;
  EXPECT_NEAR(p.shortfall(7.0), sum, 1e-6);
  // Far above all counts it is a − E Y.
  EXPECT_NEAR(table("poisson", std::log(1e4), sure, 1.0).shortfall(2e4), 1e4, 2.0);
}

TEST(PredictiveTable, BadInput) {
  EXPECT_THROW(table("bernoulli", 0.0, 1.0, 0.0), Unsupported);
  EXPECT_THROW(table("poisson", 0.0, 1.0, 1.0).quantile(1.0), InputError);
  const Likelihood l("poisson");
  EXPECT_THROW(PredictiveTable(l, Vector(), Vector::Zero(2), Vector::Ones(2), 1.0), InputError);
}

}  // namespace
}  // namespace covary
