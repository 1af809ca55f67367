#include "covary/autodiff/jet.hpp"

#include <gtest/gtest.h>

#include <functional>

#include "support/gradient_check.hpp"

namespace covary {
namespace {

using J = Jet<double>;
using JD = Jet<Dual>;

// Each derivative of a function of (x, θ) against differences of the one before it, and each by θ.
template <class F>
void expect_jet(const F& f, double x, double theta) {
  const auto at = [&](double u, double p) { return J(f(J::variable(u), p)); };
  const J here = at(x, theta);
  const auto by_x = [&](double J::*part) {
    return [=](const Vector& u) { return at(u[0], theta).*part; };
  };
  const auto one = [](double v) { return Vector::Constant(1, v); };
  expect_gradient(by_x(&J::value), one(here.first), one(x));
  expect_gradient(by_x(&J::first), one(here.second), one(x));
  expect_gradient(by_x(&J::second), one(here.third), one(x));
  const JD dual = f(JD::variable(Dual(x)), Dual::variable(theta, 1));
  EXPECT_DOUBLE_EQ(dual.third.value, here.third);
  const auto by_theta = [&](double J::*part) {
    return [=](const Vector& p) { return at(x, p[0]).*part; };
  };
  expect_gradient(by_theta(&J::value), one(dual.value.partial[1]), one(theta));
  expect_gradient(by_theta(&J::first), one(dual.first.partial[1]), one(theta));
  expect_gradient(by_theta(&J::second), one(dual.second.partial[1]), one(theta));
  expect_gradient(by_theta(&J::third), one(dual.third.partial[1]), one(theta));
}

TEST(Jet, ArithmeticMatchesDifferences) {
  for (const double x : {-0.7, 0.4, 1.9}) {
    expect_jet([](auto f, auto p) { return (f * f + p) / (2.0 + f * f * p) - 3.0 * f; }, x, 0.8);
    expect_jet([](auto f, auto p) { return 1.0 / (p + f * f) + (p - f) * (f - p) / p + p * f; }, x,
               1.3);
  }
}

TEST(Jet, FunctionsMatchDifferences) {
  for (const double x : {-0.7, 0.4, 1.9}) {
    expect_jet([](auto f, auto p) { return exp(p * f) * sin(f) + cos(p * f); }, x, 0.8);
    expect_jet([](auto f, auto p) { return log(p + f * f) + log1p(f * f * p); }, x, 0.8);
    expect_jet([](auto f, auto p) { return sqrt(p + f * f) + pow(p + f * f, -1.5); }, x, 0.8);
    expect_jet([](auto f, auto p) { return tanh(p * f) + softplus(f - p) * sigmoid(p * f); }, x,
               0.8);
    expect_jet([](auto f, auto p) { return log_gamma(p * exp(f)) + log_gamma(p); }, x, 0.8);
    expect_jet([](auto f, auto p) { return normal_log_cdf(p * f) + normal_log_cdf(p); }, x, 0.8);
    expect_jet([](auto f, auto p) { return log_one_minus_exp(p * exp(f)); }, x, 0.8);
  }
}

TEST(Jet, WholePowersAreExactAtZero) {
  const J y = pow(J::variable(0.0), 2.0);
  EXPECT_EQ(y.value, 0.0);
  EXPECT_EQ(y.first, 0.0);
  EXPECT_EQ(y.second, 2.0);
  EXPECT_EQ(y.third, 0.0);
}

TEST(Jet, LogCdfSurvivesTheTail) {
  const J y = normal_log_cdf(J::variable(-1e5));
  EXPECT_NEAR(y.first, 1e5, 1e-4);
  EXPECT_NEAR(y.second, -1.0, 1e-9);
}

}  // namespace
}  // namespace covary
