#include <gtest/gtest.h>

#include "covary/error.hpp"
#include "covary/models/sparse_regression.hpp"
#include "support/gradient_check.hpp"
#include "support/random_data.hpp"

namespace covary {
namespace {

using testing::small_data;
using testing::SmallData;

// Few inducing inputs, so that conjugate gradients have something to do.
SparseRegressionOptions options(const char* approximation, Index iterations = 0) {
  SparseRegressionOptions out{
      .kernel = "se(ard) + linear", .approximation = Approximation(approximation), .inducing = 6};
  out.subset = 0;
  out.training.max_iterations = iterations;
  return out;
}

TEST(CglbModel, PredictsAsTheExactModelOfTheSameParameters) {
  const SmallData d = small_data(120, 2, 2, 3);
  const RegressionFit cglb = SparseRegression(d.X, d.Y, options("cglb")).fit();
  RegressionOptions o;
  o.kernel = "se(ard) + linear";
  o.training.max_iterations = 0;
  Regression model(d.X, d.Y, o);
  for (const Parameter& p : cglb.parameters.all())
    if (p.path != "features.Z") model.parameters().set(p.path, p.value);
  const RegressionFit exact = model.fit();
  const RegressionFit vfe = SparseRegression(d.X, d.Y, options("vfe(tight)")).fit();
  EXPECT_GT(cglb.value, vfe.value + 1.0);
  EXPECT_LE(cglb.value, exact.value);
  EXPECT_GE(*cglb.summary.upper_bound, exact.value);

  const RowMatrix X = small_data(40, 2, 1, 8).X;
  const Prediction a = cglb.predict(X), b = exact.predict(X), c = vfe.predict(X);
  EXPECT_LT((a.mean - b.mean).cwiseAbs().maxCoeff(), 0.01);
  EXPECT_GT((c.mean - b.mean).cwiseAbs().maxCoeff(), 0.05) << "or the test shows nothing";
  EXPECT_TRUE((a.variance_f.array() >= 0.0).all());
}

TEST(CglbModel, ComponentsAddUpAndGradientsAreThoseOfThePredictions) {
  const SmallData d = small_data(60, 2, 1, 4);
  const RegressionFit fit = SparseRegression(d.X, d.Y, options("cglb")).fit();
  const SparsePosterior& posterior = fit.posterior.as<SparsePosterior>();
  const RowMatrix X = small_data(7, 2, 1, 9).X;
  const Prediction whole = posterior.predict(X);
  const auto parts = posterior.components(X);
  ASSERT_EQ(parts.size(), 2u);
  EXPECT_LT((parts[0].mean + parts[1].mean - whole.mean).cwiseAbs().maxCoeff(), 1e-10);
  EXPECT_LT((posterior.predict_mean(X) - whole.mean).cwiseAbs().maxCoeff(), 1e-10);
  EXPECT_LT((posterior.split(X).g_mean - whole.mean).cwiseAbs().maxCoeff(), 1e-10);
  const PredictionGradient g = posterior.gradient(X);
  expect_gradient(
      [&](const Vector& x) {
        return posterior.predict(Eigen::Map<const RowMatrix>(x.data(), 7, 2)).mean.sum();
      },
      Eigen::Map<const Vector>(g.mean.data(), g.mean.size()),
      Eigen::Map<const Vector>(X.data(), X.size()));
}

TEST(CglbModel, TrainsAndRefusesFurtherRows) {
  const SmallData d = small_data(150, 1, 1, 6);
  const auto o = options("cglb", 30);
  SparseRegression model(d.X, d.Y, o);
  const RegressionFit fit = model.fit();
  EXPECT_GT(fit.summary.value, fit.summary.initial_value);
  EXPECT_NEAR(fit.summary.value, model.evaluate().value, 1e-6);
  EXPECT_EQ(fit.posterior.name(), "cglb");
  EXPECT_EQ(fit.summary.objective, "elbo");
  EXPECT_THROW(fit.posterior.as<SparsePosterior>().with(d.X, d.Y), Unsupported);
}

}  // namespace
}  // namespace covary
