#include "covary/linalg/quadrature.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "covary/error.hpp"

namespace covary {
namespace {

struct Known {
  Index i;
  double node, weight;
};

void expect_known(const QuadratureRule& rule, std::initializer_list<Known> values) {
  const double largest = rule.weights.maxCoeff();
  for (const Known& v : values) {
    EXPECT_NEAR(rule.nodes[v.i], v.node, 1e-14 * std::abs(v.node)) << v.i;
    EXPECT_NEAR(rule.weights[v.i], v.weight, 1e-14 * largest) << v.i;
    EXPECT_NEAR(rule.weights[v.i], v.weight, 1e-12 * v.weight) << v.i;
    // Symmetric to the last bit.
    const Index mirror = rule.nodes.size() - 1 - v.i;
    EXPECT_EQ(rule.nodes[mirror], -rule.nodes[v.i]);
    EXPECT_EQ(rule.weights[mirror], rule.weights[v.i]);
  }
}

template <class F>
double integrate(const QuadratureRule& rule, F f) {
  double sum = 0.0;
  for (Index i = 0; i < rule.nodes.size(); ++i) sum += rule.weights[i] * f(rule.nodes[i]);
  return sum;
}

// mpmath at 60 digits: four Newton steps on the orthonormal recurrence from the double nodes, then
// the weight 1/Σ p_k² (twice that for Legendre on [−1, 1]).
TEST(GaussHermite, KnownNodesAndWeights) {
  expect_known(gauss_hermite(20), {{10, 0.34696415708135592797, 0.26079306344955485915},
                                   {11, 1.0429453488027510315, 0.16173933398399996172},
                                   {15, 3.9439673506573162603, 0.0001288262799619294494},
                                   {18, 6.5105901570136544864, 2.4820623623151786456e-10},
                                   {19, 7.6190485416797582914, 1.2578006724379270154e-13}});
  expect_known(gauss_hermite(200), {{100, 0.11093360437838370415, 0.087969704966052333857},
                                    {101, 0.33280762253606055722, 0.083749194562345162983},
                                    {150, 11.53134625392786166, 1.293823474820199029e-30},
                                    {198, 26.619594778852662892, 3.4819695683665527164e-155},
                                    {199, 27.349827752266121702, 1.2576313313555794024e-163}});
}

TEST(GaussLegendre, KnownNodesAndWeights) {
  expect_known(gauss_legendre(20), {{10, 0.076526521133497333755, 0.1527533871307258507},
                                    {11, 0.22778585114164507808, 0.14917298647260374679},
                                    {15, 0.74633190646015079261, 0.10193011981724043504},
                                    {18, 0.96397192727791379127, 0.040601429800386941331},
                                    {19, 0.99312859918509492479, 0.017614007139152118312}});
  expect_known(gauss_legendre(200), {{100, 0.0078342911423063692774, 0.015668261715832254808},
                                     {101, 0.02350095006145763729, 0.015664415063610872193},
                                     {150, 0.71124715509127790545, 0.011014182504056334598},
                                     {198, 0.99962103128093639633, 0.00042964663045105707283},
                                     {199, 0.99992807128506997705, 0.00018459009747129744397}});
}

TEST(GaussHermite, SmallRulesInClosedForm) {
  const QuadratureRule one = gauss_hermite(1), two = gauss_hermite(2), three = gauss_hermite(3);
  EXPECT_EQ(one.nodes[0], 0.0);
  EXPECT_EQ(one.weights[0], 1.0);
  EXPECT_DOUBLE_EQ(two.nodes[1], 1.0);
  EXPECT_DOUBLE_EQ(two.weights[0], 0.5);
  EXPECT_DOUBLE_EQ(three.nodes[2], std::sqrt(3.0));
  EXPECT_DOUBLE_EQ(three.weights[1], 2.0 / 3.0);
  EXPECT_DOUBLE_EQ(three.weights[2], 1.0 / 6.0);
}

// E[x^2k] = (2k − 1)!!, exact up to degree 2n − 1 and wrong beyond.
TEST(GaussHermite, ExactToDegreeTwoNMinusOne) {
  for (Index n : {1, 2, 5, 10, 25}) {
    const QuadratureRule rule = gauss_hermite(n);
    double moment = 1.0;
    for (Index k = 0; k < n; ++k) {
      if (k > 0) moment *= static_cast<double>(2 * k - 1);
      const auto power = static_cast<double>(2 * k);
      EXPECT_NEAR(integrate(rule, [&](double x) { return std::pow(x, power); }), moment,
                  1e-13 * moment);
      EXPECT_NEAR(integrate(rule, [&](double x) { return std::pow(x, power + 1.0); }), 0.0,
                  1e-13 * moment * (1.0 + power));
    }
    moment *= static_cast<double>(2 * n - 1);
    const auto beyond = static_cast<double>(2 * n);
    EXPECT_LT(integrate(rule, [&](double x) { return std::pow(x, beyond); }), 0.9999999 * moment);
  }
}

TEST(GaussHermite, SmoothExpectations) {
  for (Index n : {40, 101, 200, 300}) {
    const QuadratureRule rule = gauss_hermite(n);
    EXPECT_NEAR(rule.weights.sum(), 1.0, 1e-14) << n;
    EXPECT_NEAR(integrate(rule, [](double x) { return std::cos(3.0 * x); }), std::exp(-4.5), 1e-14);
    EXPECT_NEAR(integrate(rule, [](double x) { return std::exp(x); }), std::exp(0.5), 1e-14);
  }
}

TEST(GaussLegendre, ExactToDegreeTwoNMinusOne) {
  for (Index n : {1, 2, 3, 10, 40}) {
    const QuadratureRule rule = gauss_legendre(n, 0.0, 2.0);
    for (Index k = 0; k <= 2 * n; ++k) {
      const auto power = static_cast<double>(k);
      const double exact = std::pow(2.0, power + 1.0) / (power + 1.0);
      const double sum = integrate(rule, [&](double x) { return std::pow(x, power); });
      if (k < 2 * n) {
        EXPECT_NEAR(sum, exact, 1e-13 * exact) << n << " " << k;
      } else if (n < 10) {
        EXPECT_LT(sum, exact * (1.0 - 1e-6)) << n << " " << k;
      }
    }
  }
}

TEST(GaussLegendre, OnAnyInterval) {
  for (Index n : {30, 77, 200, 1000}) {
    const QuadratureRule rule = gauss_legendre(n, -3.0, 5.0);
    EXPECT_NEAR(rule.weights.sum(), 8.0, 1e-14 * 8.0) << n;
    EXPECT_NEAR(integrate(rule, [](double x) { return std::exp(x); }),
                std::exp(5.0) - std::exp(-3.0), 1e-13 * std::exp(5.0));
    EXPECT_GT(rule.nodes[0], -3.0);
    EXPECT_LT(rule.nodes[n - 1], 5.0);
    for (Index i = 1; i < n; ++i) ASSERT_LT(rule.nodes[i - 1], rule.nodes[i]);
  }
}

TEST(Quadrature, BadArguments) {
  EXPECT_THROW(gauss_hermite(0), InputError);
  EXPECT_THROW(gauss_hermite(-1), InputError);
  EXPECT_THROW(gauss_hermite(301), InputError);
  EXPECT_THROW(gauss_legendre(0), InputError);
  EXPECT_THROW(gauss_legendre(5, 1.0, 1.0), InputError);
  EXPECT_THROW(gauss_legendre(5, 2.0, 1.0), InputError);
  EXPECT_THROW(gauss_legendre(5, 0.0, std::numeric_limits<double>::infinity()), InputError);
  EXPECT_THROW(gauss_legendre(5, std::numeric_limits<double>::quiet_NaN(), 1.0), InputError);
}

}  // namespace
}  // namespace covary
