// Targets that do not suit, expressions with mistakes, combinations that are refused.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <set>
#include <string>

#include "cases.hpp"
#include "covary/error.hpp"

namespace covary {
namespace {

template <class E, class F>
std::string message_of(F&& f) {
  try {
    f();
  } catch (const E& e) {
    return e.what();
  }
  ADD_FAILURE() << "nothing was thrown";
  return {};
}
std::string refusal(const char* likelihood, std::initializer_list<double> y,
                    std::initializer_list<double> aux = {}) {
  const std::vector<double> targets(y), column(aux);
  return message_of<InputError>([&] {
    Likelihood(likelihood)
        .check(Eigen::Map<const Vector>(targets.data(), static_cast<Index>(targets.size())),
               Eigen::Map<const Vector>(column.data(), static_cast<Index>(column.size())));
  });
}
void expect_in(const std::string& text, std::initializer_list<const char*> parts) {
  for (const char* part : parts)
    EXPECT_NE(text.find(part), std::string::npos) << part << "\n" << text;
}

TEST(Targets, AreNamedWithTheirRow) {
  expect_in(refusal("poisson", {0, 2, -1, 2.5}), {"2 targets", "row 2", "-1 is negative"});
  expect_in(refusal("negative_binomial", {0.5}), {"0.5 is not a whole number"});
  expect_in(refusal("bernoulli", {0, 1, 2}), {"2 is not a label", "0 to 1", "row 2"});
  expect_in(refusal("softmax(3)", {0, 3}), {"3 is not a label", "0 to 2"});
  expect_in(refusal("robust_max(3)", {-1}), {"-1 is not a label"});
  expect_in(refusal("ordinal(3)", {1.5}), {"1.5 is not a label"});
  expect_in(refusal("beta", {0.5, 1.0}), {"1 is not between 0 and 1"});
  expect_in(refusal("gamma", {0.0}), {"0 is not positive", "gamma"});
  expect_in(refusal("exponential", {-2.0}), {"-2 is not positive"});
  expect_in(refusal("binomial", {3}, {2}), {"3 successes of 2 trials"});
  expect_in(refusal("gaussian", {1.0, std::numeric_limits<double>::infinity()}), {"row 1", "inf"});
}

TEST(Targets, MissingOnesPass) {
  Vector y(3);
  y << 1.0, std::nan(""), 0.0;
  EXPECT_NO_THROW(Likelihood("bernoulli").check(y));
  EXPECT_NO_THROW(Likelihood("poisson").check(y));
}

TEST(Targets, OptionalColumnIsChecked) {
  expect_in(refusal("poisson", {1, 1}, {1.0, 0.0}), {"row 1", "exposure of 0 must be positive"});
  expect_in(refusal("binomial", {1, 1}, {1.5, 2}), {"row 0", "trials of 1.5"});
  expect_in(refusal("gaussian", {1}, {-0.1}), {"noise variance of -0.1 must not be negative"});
  expect_in(refusal("poisson", {1, 1}, {1.0}), {"exposure has 1 rows", "targets have 2"});
  expect_in(refusal("bernoulli", {1}, {1.0}), {"takes no exposure"});
}

TEST(Expressions, PointAtTheMistake) {
  const auto mistake = [](const char* text) {
    return message_of<ExpressionError>([&] { Likelihood{text}; });
  };
  expect_in(mistake("bernouli"), {"unknown likelihood 'bernouli'", "did you mean 'bernoulli'?"});
  expect_in(mistake("bernoulli(loggit)"), {"did you mean 'logit'?", "column 11"});
  expect_in(mistake("softmax"), {"number of classes", "softmax(3)"});
  expect_in(mistake("softmax(1)"), {"number of classes"});
  expect_in(mistake("ordinal(100)"), {"100 classes"});
  expect_in(mistake("gaussian(variance=-1)"), {"variance of gaussian must be positive"});
  expect_in(mistake("gaussian(scale=1)"), {"no parameter 'scale'"});
  expect_in(mistake("gaussian(probit)"), {"no link"});
  expect_in(mistake("poisson(3)"), {"no bare number"});
  expect_in(mistake("robust_max(3, epsilon=2)"), {"between 0 and 1"});
  expect_in(mistake("binomial(trials=2.5)"), {"2.5 trials"});
  expect_in(mistake("gaussian("), {"expected an argument"});
  expect_in(mistake("gaussian)"), {"unexpected ')'"});
  expect_in(mistake(""), {"name of a likelihood"});
  expect_in(mistake("student_t(scale=1, scale=2)"), {"given twice"});
}

TEST(Expressions, AllExamplesRoundTrip) {
  for (const auto& text : likelihood_examples())
    EXPECT_EQ(Likelihood(Likelihood(text).print()).print(), Likelihood(text).print());
  EXPECT_EQ(Likelihood(" student_t ( degrees = 3 , scale = 0.5 ) ").print(),
            "student_t(scale=0.5, degrees=3)");
  EXPECT_EQ(Likelihood("bernoulli").print(), "bernoulli(logit)");
}

// No likelihood is without its line in the conformance suites.
TEST(Expressions, EveryLikelihoodHasItsLine) {
  const auto name = [](const std::string& text) { return text.substr(0, text.find('(')); };
  std::set<std::string> lines;
  for (const auto& c : testing::one_function_cases()) lines.insert(name(c.expression));
  for (const auto& c : testing::several_latents_cases()) lines.insert(name(c.expression));
  for (const std::string& example : likelihood_examples()) {
    EXPECT_TRUE(lines.contains(name(example))) << example;
  }
}

TEST(Capabilities, RefusalsNameWhatIsOffered) {
  const Likelihood robust("robust_max(3)"), softmax("softmax(3)"), noise("heteroscedastic");
  expect_in(message_of<Unsupported>([&] { robust.require(Inference::laplace); }),
            {"robust_max(3)", "laplace", "vgp, svgp"});
  expect_in(message_of<Unsupported>([&] { softmax.require(Inference::ep); }),
            {"ep", "laplace, vgp, svgp, mcmc"});
  EXPECT_NO_THROW(softmax.require(Inference::laplace));
  EXPECT_FALSE(noise.supports(Inference::ep));
  EXPECT_FALSE(noise.supports(Inference::sparse_ep));
  for (const auto& c : testing::one_function_cases())
    for (const auto method : {Inference::laplace, Inference::ep, Inference::vi,
                              Inference::sparse_ep, Inference::svgp, Inference::mcmc})
      EXPECT_TRUE(testing::make(c).supports(method));
  expect_in(capability_table(), {"| `softmax(3)` | 3 | yes | – | yes | – | yes | yes |"});
}

TEST(Capabilities, OfGaussianRegressionByFormAndStart) {
  EXPECT_TRUE(Likelihood(" gaussian()").is_plain_gaussian());
  EXPECT_FALSE(Likelihood("gaussian(variance=2)").is_plain_gaussian());
  EXPECT_FALSE(Likelihood("student_t").is_plain_gaussian());
  const auto starts = [](const char* text) { return Likelihood(text).node().has_noise_start(); };
  EXPECT_TRUE(starts("gaussian(variance=2)") && starts("student_t(scale=2)"));
  EXPECT_TRUE(starts("heteroscedastic(variance=2)"));
  EXPECT_FALSE(starts("gaussian") || starts("student_t(degrees=3)") || starts("poisson"));
  for (const std::string& text : likelihood_examples())
    EXPECT_EQ(Likelihood(text).node().multinomial_logit(), text == "softmax(3)") << text;
}

TEST(Shapes, AreChecked) {
  const Likelihood l("gaussian");
  const Vector y = Vector::Zero(3), theta = Vector::Ones(1);
  EXPECT_THROW(expectations(l, Vector(), y, Matrix::Zero(3, 1), Matrix::Ones(3, 1)), InputError);
  EXPECT_THROW(expectations(l, theta, y, Matrix::Zero(2, 1), Matrix::Ones(3, 1)), InputError);
  EXPECT_THROW(expectations(l, theta, y, Matrix::Zero(3, 2), Matrix::Ones(3, 2)), InputError);
  EXPECT_THROW(tilted_moments(l, {0.0, 0.0, theta.data()}, 0.0, 0.0, 1.0), InputError);
  EXPECT_THROW(tilted_moments(l, {0.0, 0.0, theta.data()}, 1.0, 0.0, -1.0), InputError);
  EXPECT_THROW(log_densities("softmax(2)", Vector(), y, y), Unsupported);
}

TEST(Formula, WithoutMomentsSaysSo) {
  const Likelihood l =
      formula_likelihood("cauchy", {{"scale", 1.0}}, [](double y, double, auto f, auto theta) {
        using std::log;
        auto z = (y - f) / theta[0];
        return -log1p(z * z) - log(theta[0] * 3.141592653589793);
      });
  const double m = 0.1, v = 0.5;
  const double scale = 1.0;
  const Datum d{0.4, 1.0, &scale};
  expect_in(message_of<Unsupported>([&] { l.node().predictive(d, &m, &v); }),
            {"cauchy", "conditional"});
  // A Cauchy is a Student-t of one degree.
  const double theta[2] = {1.0, 1.0};
  const Likelihood t("student_t");
  EXPECT_NEAR(l.node().log_predictive(d, &m, &v),
              t.node().log_predictive({0.4, 0.0, theta}, &m, &v), 1e-11);
}

TEST(LogDensities, OfRowsWithTheirPullback) {
  const Likelihood l("negative_binomial");
  const Vector theta = Vector::Constant(1, 1.4), y = Eigen::Vector2d(0, 3),
               f = Eigen::Vector2d(0.2, -0.5), exposure = Eigen::Vector2d(1.0, 2.0);
  const auto t = log_densities(l, theta, y, f, exposure);
  Taylor one;
  l.one_function().taylor({3.0, 2.0, theta.data()}, 1, f.data() + 1, &one);
  EXPECT_EQ(t[1].third, one.third);
  const Vector bar = log_densities_pullback(l, theta, y, f, {{1.0}, {1.0}}, exposure);
  const Vector up = theta.array() + 1e-5, down = theta.array() - 1e-5;
  const auto sum = [&](const Vector& x) {
    const auto all = log_densities(l, x, y, f, exposure);
    return all[0].value + all[1].value;
  };
  EXPECT_NEAR(bar[0], (sum(up) - sum(down)) / 2e-5, 1e-8);
}

}  // namespace
}  // namespace covary
