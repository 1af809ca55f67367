#include "covary/inference/laplace.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "covary/error.hpp"
#include "covary/random/random.hpp"
#include "inference/function_case.hpp"

namespace covary {
namespace {

const testing::LatentMethod laplace = [](const FunctionModel& m, const FunctionParameters& p,
                                         FunctionParameters* g) {
  return laplace_approximation(m, p, g);
};

TEST(Laplace, T5_ThreePoints) {
  const testing::ThreePoints s;
  const FunctionApproximation q = laplace_approximation(s.model, s.at);
  EXPECT_NEAR(q.value, -2.402683066682, 1e-12);
  const Vector mode = (Vector(3) << .31812626312429, -.16235228736047, .49573658757314).finished();
  EXPECT_LE((q.mean - mode).cwiseAbs().maxCoeff(), 1e-13);
  const Vector slope = s.model.y.array() - 1.0 / (1.0 + (-q.mean.array()).exp());
  const Vector back = multiply(gram(s.model.kernel, s.at.kernel, s.model.X), slope);
  EXPECT_LE((q.mean - back).cwiseAbs().maxCoeff(), 1e-14);
  const auto p = q.posterior.predict(s.X_new);
  EXPECT_NEAR(p.mean(0), .029011281849941, 1e-13);
  EXPECT_NEAR(p.variance(0), 1.322124828854, 1e-12);
  EXPECT_NEAR(class_probabilities(s.model.likelihood, Vector(), p.mean, p.variance)(0, 1),
              .505724571174, 1e-12);
}

TEST(Laplace, T6_GradientOfThreePoints) {
  const testing::ThreePoints s;
  FunctionParameters g;
  laplace_approximation(s.model, s.at, &g);
  EXPECT_NEAR(g.kernel(0), -.117165339151, 1e-12);
  EXPECT_NEAR(g.kernel(1), -.368204779468, 1e-12);
}

TEST(Laplace, T25_GradientsOfEverything) {
  for (const char* l : {"bernoulli(logit)", "bernoulli(probit)", "student_t(scale=0.7)", "poisson",
                        "negative_binomial(shape=2)", "binomial", "gamma(shape=2)",
                        "beta(concentration=5)", "ordinal(4)"})
    for (std::uint64_t seed = 20; seed < 23; ++seed) {
      SCOPED_TRACE(fmt::format("{}, seed {}", l, seed));
      testing::expect_latent_gradient(testing::latent_case(l, seed), laplace);
    }
}

// With many rows Newton starts in a smaller space and keeps its factor for some steps.
TEST(Laplace, ManyRows) {
  for (const char* l : {"bernoulli(logit)", "poisson", "gamma(shape=2)"}) {
    SCOPED_TRACE(l);
    const testing::LatentCase c = testing::latent_case(l, 40, 200);
    FunctionModel observed = c.model;
    observed.X.row(3) = observed.X.row(199);  // row 3 has no target
    observed.y(3) = observed.y(199);
    const FunctionApproximation q = laplace_approximation(observed, c.at);
    Vector slope(200);
    const auto terms = log_densities(observed.likelihood, c.at.likelihood, observed.y, q.mean);
    for (Index n = 0; n < 200; ++n) slope(n) = terms[static_cast<std::size_t>(n)].first;
    const Vector back = multiply(gram("se(ard)", c.at.kernel, observed.X), slope);
    EXPECT_LE((q.mean.array() - 0.2 - back.array()).abs().maxCoeff(), 1e-10);
    testing::expect_latent_gradient(c, laplace);
  }
}

// Outliers have W < 0: the mode is a mode all the same, and the gradient goes through it.
TEST(Laplace, StudentTWithOutliers) {
  testing::LatentCase c = testing::latent_case("student_t(scale=0.2, degrees=4)", 31);
  c.model.y(5) += 6.0;
  c.model.y(9) -= 4.0;
  const FunctionApproximation q = laplace_approximation(c.model, c.at);
  EXPECT_LT(q.posterior.lambda.minCoeff(), 0.0);
  EXPECT_GT(q.variance.minCoeff(), 0.0);
  testing::expect_latent_gradient(c, laplace);
}

TEST(Laplace, T16_CurvatureIsPositiveForConcaveLikelihoods) {
  const testing::LatentCase c = testing::latent_case("bernoulli(probit)", 12);
  const FunctionApproximation q = laplace_approximation(c.model, c.at);
  EXPECT_GT(q.posterior.lambda.minCoeff(), 0.0);
}

// A log-concave posterior has one mode, and Newton's method climbs to it from anywhere. Here in the
// plainest form: f = m + K·a, W > 0, and steps halved until log p(y, f) does not fall.
TEST(Laplace, T16_NewtonClimbsToOneModeFromAnyStart) {
  for (const char* l : {"bernoulli(logit)", "bernoulli(probit)", "poisson"}) {
    SCOPED_TRACE(l);
    const testing::LatentCase c = testing::latent_case(l, 12);
    const FunctionApproximation q = laplace_approximation(c.model, c.at);
    std::vector<Index> rows;
    for (Index n = 0; n < c.model.y.size(); ++n)
      if (!std::isnan(c.model.y(n))) rows.push_back(n);
    const Vector y = c.model.y(rows);
    const Index N = y.size();
    const Matrix K = gram(c.model.kernel, c.at.kernel, c.model.X(rows, Eigen::all));
    Vector g(N), W(N);
    const auto log_joint = [&](const Vector& a) {
      const Vector h = multiply(K, a);
      double sum = -0.5 * dot(a, h);
      const auto terms =
          log_densities(c.model.likelihood, c.at.likelihood, y, h.array() + c.at.mean_weights(0));
      for (Index n = 0; n < N; ++n) {
        const Taylor& t = terms[static_cast<std::size_t>(n)];
        sum += t.value;
        g(n) = t.first;
        W(n) = -t.second;
      }
      return sum;
    };
    for (const std::uint64_t seed : {1, 2, 3}) {
      Vector a = Random(seed).normal_vector(N);
      double value = log_joint(a);
      for (int iteration = 0; iteration < 60; ++iteration) {
        EXPECT_GT(W.minCoeff(), 0.0);
        SiteFactor factor;
        ASSERT_TRUE(factor.compute(K, W));  // K⁻¹ + W is positive definite
        const Vector b = W.cwiseProduct(multiply(K, a)) + g;
        const Vector move = b - factor.apply(multiply(K, b)) - a;
        double fraction = 1.0;
        while (fraction > 1e-9 && !(log_joint(a + fraction * move) >= value)) fraction *= 0.5;
        if (fraction <= 1e-9) break;  // rounding alone is left
        a += fraction * move;
        value = log_joint(a);
      }
      EXPECT_LE((multiply(K, a).array() + c.at.mean_weights(0) - q.mean.array()).abs().maxCoeff(),
                1e-6);
    }
  }
}

TEST(Laplace, GaussianLikelihoodIsExactRegression) { testing::expect_exact_regression(laplace); }
TEST(Laplace, MissingTargetsAreLeftOut) { testing::expect_missing_left_out(laplace); }
TEST(Laplace, T17_FlippedLabels) { testing::expect_flip_symmetry(laplace); }

TEST(Laplace, T18_FarFromTheDataIsThePrior) {
  const testing::ThreePoints s;
  const FunctionApproximation q = laplace_approximation(s.model, s.at);
  const auto p = q.posterior.predict((RowMatrix(1, 1) << 40.0).finished());
  EXPECT_NEAR(p.mean(0), 0.0, 1e-12);
  EXPECT_NEAR(p.variance(0), 2.0, 1e-12);
}

TEST(Laplace, BadInput) {
  const testing::ThreePoints s;
  FunctionModel m = s.model;
  m.likelihood = "robust_max(3)";
  EXPECT_THROW(laplace_approximation(m, s.at), Unsupported);
  m = s.model;
  m.y(0) = 2.0;
  EXPECT_THROW(laplace_approximation(m, s.at), InputError);
  m = s.model;
  m.y.setConstant(std::nan(""));
  EXPECT_THROW(laplace_approximation(m, s.at), InputError);
  EXPECT_THROW(laplace_approximation(s.model, {Vector::Ones(3), Vector(), Vector()}), InputError);
  const FunctionApproximation q = laplace_approximation(s.model, s.at);
  EXPECT_THROW(q.posterior.predict(RowMatrix::Zero(1, 2)), InputError);
}

}  // namespace
}  // namespace covary
