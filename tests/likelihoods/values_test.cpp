// Values from elsewhere: section 3 of the classification specification, and closed forms.
#include <gtest/gtest.h>

#include <cmath>

#include "covary/likelihoods/likelihoods.hpp"
#include "covary/linalg/special.hpp"

namespace covary {
namespace {

struct Row {
  double m, v, logit_one, logit_zero, m_bar, v_bar, p_logit, probit_one, p_probit;
};

TEST(Bernoulli, T1ExpectationsAndPredictions) {
  const std::vector<Row> rows{
      {0, 1, -0.8060591833, -0.8060591833, 0.5, -0.1033104821, 0.5, -1.0, 0.5},
      {1, .5, -0.3612413504, -1.3612413504, 0.2884268322, -0.0935607153, 0.7115731678, -0.26557988,
       0.7928919109},
      {-2, 4, -2.3563163602, -0.3563163602, 0.7752002454, -0.0561999387, 0.2247997546, -5.46714100,
       0.1855466848},
      {3, 10, -0.4197409509, -3.4197409509, 0.2038116831, -0.0389516993, 0.7961883169, -0.73111435,
       0.8171438519},
      {.5, 1e-4, -0.4740887342, -0.9740887342, 0.3775435465, -0.1174994473, 0.6224564535,
       -0.36897211, 0.6914536602}};
  const Likelihood logit("bernoulli(logit)"), probit("bernoulli(probit)");
  for (const Row& r : rows) {
    double m_bar = 0.0, v_bar = 0.0;
    const Datum one{1.0, 0.0, nullptr}, zero{0.0, 0.0, nullptr};
    EXPECT_NEAR(logit.node().expectation(zero, &r.m, &r.v, &m_bar, &v_bar, nullptr), r.logit_zero,
                6e-11);
    EXPECT_NEAR(logit.node().expectation(one, &r.m, &r.v, &m_bar, &v_bar, nullptr), r.logit_one,
                6e-11);
    EXPECT_NEAR(m_bar, r.m_bar, 6e-11);
    EXPECT_NEAR(v_bar, r.v_bar, 6e-11);
    EXPECT_NEAR(logit.node().predictive(one, &r.m, &r.v).mean, r.p_logit, 6e-11);
    EXPECT_NEAR(probit.node().expectation(one, &r.m, &r.v, &m_bar, &v_bar, nullptr), r.probit_one,
                6e-9);
    EXPECT_NEAR(probit.node().predictive(one, &r.m, &r.v).mean, r.p_probit, 6e-11);
  }
}

TEST(Bernoulli, ProbitDerivativesOfTheSpecification) {
  const Likelihood l("bernoulli(probit)");
  const double m = 0.7, v = 1.3;
  double m_bar = 0.0, v_bar = 0.0;
  l.node().expectation({1.0, 0.0, nullptr}, &m, &v, &m_bar, &v_bar, nullptr);
  EXPECT_NEAR(m_bar, 0.5708655415, 6e-11);
  EXPECT_NEAR(v_bar, -0.2218675641, 6e-11);
  l.node().expectation({0.0, 0.0, nullptr}, &m, &v, &m_bar, &v_bar, nullptr);
  EXPECT_NEAR(m_bar, -1.3886203791, 6e-11);
  EXPECT_NEAR(v_bar, -0.3549493679, 6e-11);
}

TEST(Bernoulli, StaysFiniteInTheTails) {
  for (const char* text : {"bernoulli(logit)", "bernoulli(probit)"}) {
    const Likelihood l(text);
    const double m = -1e4, v = 1.0;
    double m_bar = 0.0, v_bar = 0.0;
    const Datum one{1.0, 0.0, nullptr};
    const double value = l.node().expectation(one, &m, &v, &m_bar, &v_bar, nullptr);
    EXPECT_TRUE(std::isfinite(value)) << text;
    const Tilted z = l.one_function().tilted(one, 1.0, m, v, nullptr);
    EXPECT_TRUE(std::isfinite(z.log_z) && std::isfinite(z.first) && std::isfinite(z.second));
    EXPECT_GT(z.first, 0.0);
    // log ∫ σ(f) N = m + v/2 in the tail; Φ(m/√(1+v)) for the other
    const double expected =
        std::string(text) == "bernoulli(logit)" ? m + 0.5 : normal_log_cdf(m / std::sqrt(2.0));
    EXPECT_NEAR(z.log_z, expected, 1e-10 * std::abs(expected));
  }
}

// Closed forms that the quadrature does not know of.
TEST(Tilted, NegativeBinomialPoissonAndGammaAgreeInTheirLimits) {
  const double m = 0.4, v = 0.8;
  const double shape = 1e9;
  const Tilted a = tilted_moments("poisson", {3.0, 1.0, nullptr}, 1.0, m, v);
  const Tilted b = tilted_moments("negative_binomial", {3.0, 1.0, &shape}, 1.0, m, v);
  EXPECT_NEAR(a.log_z, b.log_z, 1e-7);
  EXPECT_NEAR(a.second, b.second, 1e-7);
  const double one = 1.0;
  const Tilted c = tilted_moments("gamma", {2.0, 0.0, &one}, 0.7, m, v);
  const Tilted d = tilted_moments("exponential", {2.0, 0.0, nullptr}, 0.7, m, v);
  EXPECT_NEAR(c.log_z, d.log_z, 1e-12);
}

TEST(StudentT, OfManyDegreesIsGaussian) {
  const double theta[2] = {0.7, 1e8}, variance = 0.49;
  const Tilted t = tilted_moments("student_t", {1.2, 0.0, theta}, 1.0, 0.3, 2.0);
  const Tilted g = tilted_moments("gaussian", {1.2, 0.0, &variance}, 1.0, 0.3, 2.0);
  EXPECT_NEAR(t.log_z, g.log_z, 1e-6);
  EXPECT_NEAR(t.second, g.second, 1e-6);
}

// A cavity far on the steep side of exp(f): the mode is hundreds of standard deviations away.
TEST(Tilted, FindsItsModeFromFarAway) {
  const Tilted z = tilted_moments("poisson", {0.0, 1.0, nullptr}, 1.0, 300.0, 100.0);
  EXPECT_TRUE(std::isfinite(z.log_z));
  const double h = 1e-3;
  const double up = tilted_moments("poisson", {0.0, 1.0, nullptr}, 1.0, 300.0 + h, 100.0).log_z;
  const double down = tilted_moments("poisson", {0.0, 1.0, nullptr}, 1.0, 300.0 - h, 100.0).log_z;
  EXPECT_NEAR(z.first, (up - down) / (2.0 * h), 1e-7);
}

// The two modes of an outlier far from the cavity: neither is missed.
TEST(StudentT, OutlierKeepsBothModes) {
  const double theta[2] = {0.01, 4.0};
  const Likelihood l("student_t");
  const double m = 0.0, v = 1.0;
  // ∫ t(y; f) N(f) with a needle at y = 3: N(3)·(1 + O(scale²)) + the tail around m.
  const Tilted z = tilted_moments(l, {3.0, 0.0, theta}, 1.0, m, v);
  EXPECT_NEAR(z.log_z, normal_log_pdf(3.0), 0.01);
}

TEST(Poisson, ExposureScalesTheRate) {
  const double m = 0.3, v = 0.5, shifted = m + std::log(2.5);
  const Likelihood l("poisson");
  double a = 0.0, b = 0.0;
  EXPECT_NEAR(l.node().expectation({4.0, 2.5, nullptr}, &m, &v, &a, &b, nullptr),
              l.node().expectation({4.0, 1.0, nullptr}, &shifted, &v, &a, &b, nullptr), 1e-13);
  EXPECT_EQ(Likelihood("lgcp(volume=2.5)").node().default_aux(), 2.5);
}

}  // namespace
}  // namespace covary
