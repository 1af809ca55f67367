#include "covary/parameters/prior.hpp"

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "covary/error.hpp"
#include "covary/linalg/quadrature.hpp"
#include "support/gradient_check.hpp"

namespace covary {
namespace {

const double inf = std::numeric_limits<double>::infinity();

struct Case {
  std::string text;
  Prior prior;
  bool positive;  // the support
};
void PrintTo(const Case& c, std::ostream* out) { *out << c.text; }

class Priors : public testing::TestWithParam<Case> {
 protected:
  const Prior& prior_ = GetParam().prior;
  const bool positive_ = GetParam().positive;
};

// ∫p(x)dx = 1 over pieces; on a positive support x = eᵗ, so that both tails are short.
TEST_P(Priors, IntegratesToOne) {
  double sum = 0.0;
  for (double from = -60.0; from < 60.0; from += 2.0) {
    const QuadratureRule rule = gauss_legendre(20, from, from + 2.0);
    for (Index i = 0; i < rule.nodes.size(); ++i) {
      const double t = rule.nodes(i), x = positive_ ? std::exp(t) : t;
      sum += rule.weights(i) * std::exp(prior_.log_density(x)) * (positive_ ? x : 1.0);
    }
  }
  EXPECT_NEAR(sum, 1.0, 1e-9);
}

TEST_P(Priors, SlopeIsTheDerivative) {
  for (const double x : {0.03, 0.2, 0.9, 1.0, 2.5, 7.0, 40.0}) {
    const auto f = [&](const Vector& t) { return prior_.log_density(std::exp(t(0))); };
    expect_gradient(f, Vector::Constant(1, x * prior_.slope(x)), Vector::Constant(1, std::log(x)));
  }
}

TEST_P(Priors, HasNoDensityOutsideItsSupport) {
  for (const double x : {0.0, -1e-300, -1.0, -100.0})
    EXPECT_EQ(prior_.log_density(x) == -inf, positive_) << x;
}

TEST_P(Priors, ParseAndDescribeAreInverse) {
  EXPECT_EQ(prior_.describe(), GetParam().text);
  const Prior again = Prior::parse(GetParam().text);
  EXPECT_EQ(again.describe(), GetParam().text);
  for (const double x : {0.1, 1.0, 3.7}) EXPECT_EQ(again.log_density(x), prior_.log_density(x));
}

INSTANTIATE_TEST_SUITE_P(
    All, Priors,
    testing::Values(Case{"normal(0,1)", Prior::normal(0, 1), false},
                    Case{"normal(-2.5,0.3)", Prior::normal(-2.5, 0.3), false},
                    Case{"lognormal(0,1)", Prior::log_normal(0, 1), true},
                    Case{"lognormal(-1.5,0.25)", Prior::log_normal(-1.5, 0.25), true},
                    Case{"gamma(2,1)", Prior::gamma(2, 1), true},
                    Case{"gamma(0.5,3)", Prior::gamma(0.5, 3), true},
                    Case{"inversegamma(2,1)", Prior::inverse_gamma(2, 1), true},
                    Case{"inversegamma(3.5,0.1)", Prior::inverse_gamma(3.5, 0.1), true},
                    Case{"halfcauchy(1)", Prior::half_cauchy(1), true},
                    Case{"halfcauchy(0.123456789)", Prior::half_cauchy(0.123456789), true}));

// The closed forms at a point, by hand.
TEST(Prior, Values) {
  const double log_2pi = std::log(2.0 * M_PI);
  EXPECT_NEAR(Prior::normal(1.0, 2.0).log_density(2.0), -0.125 - std::log(2.0) - 0.5 * log_2pi,
              1e-15);
  EXPECT_NEAR(Prior::log_normal(0.0, 1.0).log_density(1.0), -0.5 * log_2pi, 1e-15);
  EXPECT_NEAR(Prior::gamma(3.0, 2.0).log_density(1.5),
              std::log(8.0) - std::log(2.0) + 2.0 * std::log(1.5) - 3.0, 1e-15);
  EXPECT_NEAR(Prior::inverse_gamma(3.0, 2.0).log_density(0.5),
              std::log(8.0) - std::log(2.0) + 4.0 * std::log(2.0) - 4.0, 1e-15);
  EXPECT_NEAR(Prior::half_cauchy(2.0).log_density(2.0), std::log(1.0 / (2.0 * M_PI)), 1e-15);
}

TEST(Prior, ParseAllowsSpaces) {
  EXPECT_EQ(Prior::parse("gamma( 2 , 0.5 )").describe(), "gamma(2,0.5)");
  EXPECT_EQ(Prior::parse("normal(-1e-3, 2)").describe(), "normal(-0.001,2)");
}

TEST(Prior, TextThatIsNoPriorIsRefusedWithWhatIs) {
  for (const std::string text : {"",
                                 "(",
                                 ")",
                                 "()",
                                 "normal",
                                 "normal(",
                                 "normal()",
                                 "normal(0)",
                                 "normal(0,1",
                                 "normal(0,1,2)",
                                 "normal(0,1)x",
                                 "normal(0,one)",
                                 "normal(0,1x)",
                                 "gauss(0,1)",
                                 "halfcauchy(1,2)",
                                 "gamma(2,,1)",
                                 "gamma(2 1)",
                                 "gamma(,2,1)",
                                 "gamma(2,1,)",
                                 "Gamma(2,1)",
                                 "normal)0,1("}) {
    try {
      Prior::parse(text);
      ADD_FAILURE() << "'" << text << "' was accepted";
    } catch (const ExpressionError& e) {
      const std::string message = e.what();
      EXPECT_NE(message.find("'" + text + "'"), std::string::npos) << message;
      EXPECT_NE(message.find("halfcauchy(scale)"), std::string::npos) << message;
    }
  }
}

TEST(Prior, BadParametersAreRefused) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  for (const double bad : {0.0, -1.0, nan, inf}) {
    EXPECT_THROW(Prior::normal(0, bad), InputError);
    EXPECT_THROW(Prior::log_normal(0, bad), InputError);
    EXPECT_THROW(Prior::gamma(bad, 1), InputError);
    EXPECT_THROW(Prior::gamma(1, bad), InputError);
    EXPECT_THROW(Prior::inverse_gamma(bad, 1), InputError);
    EXPECT_THROW(Prior::inverse_gamma(1, bad), InputError);
    EXPECT_THROW(Prior::half_cauchy(bad), InputError);
  }
  for (const double bad : {nan, inf, -inf}) {
    EXPECT_THROW(Prior::normal(bad, 1), InputError);
    EXPECT_THROW(Prior::log_normal(bad, 1), InputError);
  }
  EXPECT_THROW(Prior::parse("normal(nan,1)"), InputError);
  EXPECT_THROW(Prior::parse("gamma(-1,1)"), InputError);
}

}  // namespace
}  // namespace covary
