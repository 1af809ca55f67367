#include "covary/linalg/gamma.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "covary/error.hpp"
#include "covary/linalg/normal_tail.hpp"
#include "covary/linalg/special.hpp"

namespace covary {
namespace {

// At 1, 1/2 and 1/4 the polygamma functions are known in closed form.
TEST(Polygamma, HasItsKnownValues) {
  const double zeta3 = 1.2020569031595942854, euler = 0.57721566490153286061, pi = M_PI;
  const auto near = [](double a, double b) { EXPECT_NEAR(a, b, 4e-15 * std::abs(b)); };
  near(polygamma(0, 1.0), -euler);
  near(polygamma(0, 0.5), -euler - 2.0 * std::log(2.0));
  near(polygamma(1, 1.0), pi * pi / 6.0);
  near(polygamma(1, 0.5), pi * pi / 2.0);
  near(polygamma(2, 1.0), -2.0 * zeta3);
  near(polygamma(2, 0.5), -14.0 * zeta3);
  near(polygamma(3, 1.0), std::pow(pi, 4) / 15.0);
  near(polygamma(3, 0.5), std::pow(pi, 4));
  near(polygamma(4, 1.0), -24.886266123440878232);  // −24 ζ(5)
}

TEST(Polygamma, FollowsItsRecurrenceFromSmallToLarge) {
  for (const double x : {1e-3, 0.3, 2.7, 14.9, 15.5, 40.0, 1e4})
    for (int n = 0; n <= 4; ++n) {
      const double step = std::pow(-1.0, n) * std::tgamma(n + 1.0) / std::pow(x, n + 1);
      const double here = polygamma(n, x), there = polygamma(n, x + 1.0);
      EXPECT_NEAR(here, there - step, 1e-14 * (std::abs(here) + std::abs(there))) << n << ", " << x;
    }
  EXPECT_TRUE(std::isnan(polygamma(0, -1.0)));
  EXPECT_THROW(polygamma(5, 1.0), InputError);
}

TEST(LogGamma, HasAllItsDerivativesAtOnce) {
  for (const double x : {1e-3, 0.3, 2.7, 15.5, 40.0, 1e4}) {
    const auto all = log_gamma_derivatives(x);
    EXPECT_EQ(all[0], log_gamma(x));
    for (int n = 0; n < 4; ++n) {
      const double one = polygamma(n, x);
      EXPECT_NEAR(all[static_cast<std::size_t>(n + 1)], one, 4e-15 * std::max(1.0, std::abs(one)));
    }
  }
}

TEST(LogGamma, OfWholeNumbers) {
  EXPECT_NEAR(log_gamma(11.0), std::log(3628800.0), 1e-14);
  EXPECT_EQ(log_gamma(1.0), 0.0);
}

TEST(NormalTail, IsTheSlopeOfTheLogCdf) {
  for (const double z : {-200.0, -20.0, -9.0, -5.1, -4.9, -1.0, 0.0, 3.0, 9.0}) {
    const auto [log_cdf, r, h] = normal_tail(z);
    EXPECT_NEAR(log_cdf, normal_log_cdf(z), 4e-15 * std::abs(normal_log_cdf(z)));
    EXPECT_NEAR(r, std::exp(normal_log_pdf(z) - normal_log_cdf(z)), 1e-13 * std::max(r, 1e-300));
    EXPECT_NEAR(h, r + z, 1e-14 * std::abs(z));
  }
  // h = 1/x − 2/x³ + 10/x⁵ − … with x = −z
  const double x = 1e5;
  EXPECT_DOUBLE_EQ(normal_tail(-x).excess, 1.0 / x - 2.0 / (x * x * x));
}

}  // namespace
}  // namespace covary
