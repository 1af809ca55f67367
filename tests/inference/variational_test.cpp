#include "covary/inference/variational.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "covary/error.hpp"
#include "inference/function_case.hpp"

namespace covary {
namespace {

const testing::LatentMethod variational = [](const FunctionModel& m, const FunctionParameters& p,
                                             FunctionParameters* g) {
  return variational_approximation(m, p, g);
};

double largest_error(ConstVector a, std::initializer_list<double> b) {
  double worst = 0.0;
  Index i = 0;
  for (const double x : b) worst = std::max(worst, std::abs(a(i++) - x));
  return worst;
}

TEST(Variational, T7_ThreePoints) {
  const testing::ThreePoints s;
  const FunctionApproximation q = variational_approximation(s.model, s.at);
  EXPECT_NEAR(q.value, -2.349964004616, 1e-11);
  EXPECT_LE(largest_error(q.mean, {.33422019, -.15367311, .52954353}), 1e-8);
  EXPECT_LE(largest_error(q.variance, {1.32918632, 1.29468160, 1.42228127}), 1e-8);
  EXPECT_LE(largest_error(q.posterior.alpha, {.43444091, -.46959508, .39813896}), 1e-8);
  EXPECT_LE(largest_error(q.posterior.lambda, {.19419315, .19742975, .18769737}), 1e-8);
  const auto p = q.posterior.predict(s.X_new);
  EXPECT_NEAR(p.mean(0), .0479435255, 1e-9);
  EXPECT_NEAR(p.variance(0), 1.4114313791, 1e-9);
  EXPECT_NEAR(class_probabilities(s.model.likelihood, Vector(), p.mean, p.variance)(0, 1),
              .5093476696, 1e-10);
}

TEST(Variational, T11_BelowTheExactEvidence) {
  const testing::ThreePoints s;
  EXPECT_LT(variational_approximation(s.model, s.at).value, testing::three_points_exact);
}

TEST(Variational, T25_GradientsOfEverything) {
  for (const char* l : {"bernoulli(logit)", "bernoulli(probit)", "student_t(scale=0.7)", "poisson",
                        "negative_binomial(shape=2)", "binomial", "gamma(shape=2)",
                        "beta(concentration=5)", "ordinal(4)"}) {
    SCOPED_TRACE(l);
    testing::expect_latent_gradient(testing::latent_case(l, 20), variational);
  }
}

TEST(Variational, StudentTWithOutliers) {
  testing::LatentCase c = testing::latent_case("student_t(scale=0.2, degrees=4)", 31);
  c.model.y(5) += 6.0;
  const FunctionApproximation q = variational_approximation(c.model, c.at);
  EXPECT_GT(q.variance.minCoeff(), 0.0);
  testing::expect_latent_gradient(c, variational);
}

TEST(Variational, GaussianLikelihoodIsExactRegression) {
  testing::expect_exact_regression(variational);
}
TEST(Variational, MissingTargetsAreLeftOut) { testing::expect_missing_left_out(variational); }
TEST(Variational, T17_FlippedLabels) { testing::expect_flip_symmetry(variational); }

TEST(Variational, BadInput) {
  const testing::ThreePoints s;
  FunctionModel m = s.model;
  m.likelihood = "softmax(3)";  // several latent functions a datum
  EXPECT_THROW(variational_approximation(m, s.at), Unsupported);
  VariationalOptions hasty;
  hasty.max_iterations = 1;
  EXPECT_THROW(variational_approximation(s.model, s.at, nullptr, hasty), NumericalError);
}

}  // namespace
}  // namespace covary
