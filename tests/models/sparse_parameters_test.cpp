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

}  // namespace
}  // namespace covary
