// What a sparse model says at given parameters, and what another model of the same data takes over.
#include <gtest/gtest.h>

#include <cmath>
#include <utility>

#include "covary/models/sparse_regression.hpp"
#include "support/random_data.hpp"

namespace covary {
namespace {

using testing::small_data;
using testing::SmallData;

TEST(SparseParameters, AreTakenFromAModelWithAnotherNumberOfInducingInputs) {
  const SmallData d = small_data(80, 2, 1, 3);
  SparseRegression few(d.X, d.Y, {.inducing = 5}), many(d.X, d.Y, {.inducing = 12});
  many.parameters().fix("features.Z");
  EXPECT_NE(few.evaluate().value, many.evaluate().value);
  few.set_parameters(many.parameters(), many.features());
  EXPECT_EQ(few.evaluate().value, many.evaluate().value);
  EXPECT_FALSE(few.parameters().at("features.Z").trainable);
}

TEST(SparseParameters, AMovedModelEvaluatesTheSame) {
  const SmallData d = small_data(80, 2, 1, 3);
  SparseRegression model(d.X, d.Y, {.inducing = 5});
  const double value = model.evaluate().value;
  const SparseRegression moved = std::move(model);
  EXPECT_EQ(moved.evaluate().value, value);
}

TEST(SparseParameters, TheCertificateIsInTheUnitsOfTheData) {
  SmallData d = small_data(80, 2, 1, 3);
  d.Y = d.Y.array() * 20.0 + 7.0;
  const Regression exact(d.X, d.Y);
  const SparseRegression model(d.X, d.Y, {.inducing = 5});
  const Certificate c = model.certificate();
  EXPECT_LE(c.lower, exact.log_marginal_likelihood());
  EXPECT_GE(c.upper, exact.log_marginal_likelihood());
  EXPECT_NEAR(c.elbo, model.evaluate().value, 1e-8 * std::abs(c.elbo));
}

TEST(SparseParameters, TheTimeLimitIsOfAllPartsOfAFit) {
  const SmallData d = small_data(200, 2, 1, 3);
  SparseRegressionOptions options;  // as many inducing inputs as it takes
  options.training.max_seconds = 1e-9;
  SparseRegression model(d.X, d.Y, options);
  const RegressionFit fit = model.fit();
  EXPECT_FALSE(fit.summary.converged);
  EXPECT_NE(fit.summary.reason.find("limit of 1e-09 seconds"), std::string::npos)
      << fit.summary.reason;
  EXPECT_FALSE(model.options().training.stop);  // as it was before
}

TEST(SparseParameters, FurtherRowsDropWhatWasSaidOfTheFirst) {
  const SmallData d = small_data(60, 1, 1, 3);
  SparseRegressionOptions options{.inducing = 5};
  options.training.max_iterations = 0;
  SparseRegression model(d.X, d.Y, options);
  const RegressionFit fit = model.fit();
  ASSERT_TRUE(fit.summary.upper_bound);
  const RegressionFit later = fit.with(d.X.topRows(3), d.Y.topRows(3));
  EXPECT_FALSE(later.summary.upper_bound);
  EXPECT_TRUE(later.diagnostics.empty());
}

// What was set, fixed, bounded or given a prior of the inducing variables is there at the end.
TEST(SparseParameters, TrainingHoldsWhatWasSaidOfInducingInputs) {
  const SmallData d = small_data(120, 1, 1, 3);
  const Vector Z = Eigen::Vector3d(0.1, 0.2, 0.3);
  for (const bool fixed : {true, false}) {
    SparseRegression model(d.X, d.Y, {.inducing = 3});
    model.parameters().set("features.Z", Z);
    if (fixed) model.parameters().fix("features.Z");
    const RegressionFit fit = model.fit();
    EXPECT_EQ(fit.parameters.at("features.Z").value == Z, fixed);
    EXPECT_EQ(fit.parameters.at("features.Z").trainable, !fixed);
  }
  // Without a number, as many as were set are not looked for again.
  SparseRegression model(d.X, d.Y);
  const Vector all = Vector::LinSpaced(model.parameters().at("features.Z").value.size(), -2.0, 2.0);
  model.parameters().set("features.Z", all);
  model.parameters().fix("features.Z");
  EXPECT_EQ(model.fit().parameters.at("features.Z").value, all);
}

TEST(SparseParameters, TrainingHoldsBoundsAndPriorsOfInducingInputs) {
  const SmallData d = small_data(120, 1, 1, 3);
  SparseRegression model(d.X, d.Y, {.inducing = 4});
  model.parameters().set_bounds("features.Z", -0.5, 0.5);
  model.parameters().set_prior("features.Z", Prior::parse("normal(0,0.1)"));
  const RegressionFit fit = model.fit();
  const Parameter& found = fit.parameters.at("features.Z");
  EXPECT_LT(found.value.cwiseAbs().maxCoeff(), 0.5);
  ASSERT_TRUE(found.prior);
  EXPECT_EQ(found.prior->describe(), model.parameters().at("features.Z").prior->describe());
  EXPECT_NE(fit.log_prior, 0.0);
}

TEST(SparseParameters, TrainingHoldsTheMeasureOfEigenfunctionsAndTheIntervalOfFourierFeatures) {
  const SmallData d = small_data(120, 1, 1, 3);
  SparseRegressionOptions eigen{.kernel = "se", .features = "eigen", .inducing = 8};
  eigen.training.max_iterations = 5;
  SparseRegression measure(d.X, d.Y, eigen);
  measure.parameters().set("features.sd", 1.75);
  measure.parameters().fix("features.sd");
  EXPECT_EQ(measure.fit().parameters.at("features.sd").value(0), 1.75);
  SparseRegressionOptions fourier{.kernel = "matern32", .features = "fourier", .inducing = 9};
  fourier.training.max_iterations = 5;
  SparseRegression interval(d.X, d.Y, fourier);
  Vector ends = interval.parameters().at("features.interval").value;
  ends(ends.size() - 1) += 1.0;
  interval.parameters().set("features.interval", ends);
  interval.parameters().fix("features.interval");
  EXPECT_EQ(interval.fit().parameters.at("features.interval").value, ends);
}

// Nobody fixed the interval, which is never trained: it follows the kernel that training finds.
TEST(SparseParameters, AnIntervalThatNobodySetFollowsTheKernel) {
  const SmallData d = small_data(120, 1, 1, 3);
  SparseRegression model(d.X, d.Y, {.kernel = "matern32", .features = "fourier", .inducing = 9});
  const Vector before = model.parameters().at("features.interval").value;
  EXPECT_NE(model.fit().parameters.at("features.interval").value, before);
}

}  // namespace
}  // namespace covary
