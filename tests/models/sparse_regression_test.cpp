#include "covary/models/sparse_regression.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "covary/error.hpp"
#include "covary/linalg/parallel.hpp"
#include "covary/random/random.hpp"
#include "support/random_data.hpp"

namespace covary {
namespace {

using testing::small_data;
using testing::SmallData;

const SparsePosteriorParts& parts_of(const RegressionFit& fit) {
  return fit.posterior.as<SparsePosterior>().parts();
}

double diagnostic(const RegressionFit& fit, const std::string& name) {
  for (const auto& [key, value] : fit.diagnostics)
    if (key == name) return value;
  throw InputError("no diagnostic " + name);
}

TEST(SparseRegression, NearTheExactFitWithEnoughInducingInputs) {
  const SmallData d = small_data(150, 1, 1, 3);
  const RegressionFit exact = Regression(d.X, d.Y).fit();
  SparseRegression model(d.X, d.Y, {.inducing = 20});
  const RegressionFit fit = model.fit();
  EXPECT_LE(fit.value, exact.value + 1e-6);
  EXPECT_NEAR(fit.value, exact.value, 0.05);
  EXPECT_GE(*fit.summary.upper_bound, fit.value);
  const Prediction a = fit.predict(d.X), b = exact.predict(d.X);
  EXPECT_LT((a.mean - b.mean).cwiseAbs().maxCoeff(), 0.01);
  EXPECT_EQ(fit.summary.objective, "elbo");
  EXPECT_EQ(fit.posterior.name(), "vfe");
}

TEST(SparseRegression, TrainingNeverEndsBelowItsStart) {
  const SmallData d = small_data(200, 2, 1, 5);
  for (const char* a : {"vfe", "vfe(tight)", "fitc", "pep(0.5)", "dtc", "pitc"}) {
    SparseRegressionOptions options{.approximation = a, .inducing = 10};
    options.training.max_iterations = 30;
    SparseRegression model(d.X, d.Y, options);
    const RegressionFit fit = model.fit();
    EXPECT_GE(fit.summary.value, fit.summary.initial_value) << a;
    EXPECT_NEAR(fit.summary.value, model.evaluate().value, 1e-6) << a;
    EXPECT_NEAR(-fit.summary.value + 0.0,
                diagnostic(fit, "complexity") + diagnostic(fit, "fit") + diagnostic(fit, "trace"),
                1e-6)
        << a;
  }
}

// Forty levels all but without noise, which an exact fit finds and ten points cannot resolve: at
// its noise the bound would start hundreds of nats below zero for every row.
TEST(SparseRegression, NoiseStartsWhereFewInducingInputsCanBear) {
  Random random(4);
  RowMatrix X(500, 1), Y(500, 1);
  for (Index i = 0; i < 500; ++i) {
    const double level = std::floor(40.0 * random.uniform());
    X(i) = level + 0.05 * random.normal();
    Y(i) = std::sin(7.0 * level) + 0.001 * random.normal();
  }
  SparseRegressionOptions o{.inducing = 10};
  o.training.starts = 1;
  o.training.max_iterations = 1;
  const RegressionFit fit = SparseRegression(X, Y, o).fit();
  EXPECT_GT(fit.summary.initial_value, -10.0 * 500);
  EXPECT_LT(fit.parameters.at("likelihood.variance").value[0], 2.0);
}

TEST(SparseRegression, TheNumberOfInducingInputsIsFound) {
  const SmallData d = small_data(400, 1, 1, 7);
  const RegressionFit exact = Regression(d.X, d.Y, {.training = {.starts = 1}}).fit();
  const RegressionFit fit = SparseRegression(d.X, d.Y).fit();
  EXPECT_NE(fit.summary.reason.find("M = "), std::string::npos);
  EXPECT_LT(*fit.summary.upper_bound - fit.value, 0.01 * 400);
  EXPECT_NEAR(fit.value, exact.value, 0.01 * 400);
  EXPECT_LT(parts_of(fit).features->size(), 200);
}

TEST(SparseRegression, AWarmStartTrainsByAnotherApproximationFirst) {
  const SmallData d = small_data(150, 2, 1, 5);
  SparseRegressionOptions options{.approximation = "vfe", .inducing = 5};
  options.training.max_iterations = 40;
  const RegressionFit fitc =
      SparseRegression(d.X, d.Y,
                       {.approximation = "fitc", .inducing = 5, .training = options.training})
          .fit();
  options.warm_start = "fitc";
  std::vector<std::string> told;
  options.training.tell = [&](const std::string& text) { told.push_back(text); };
  SparseRegression model(d.X, d.Y, options);
  const RegressionFit warm = model.fit();
  EXPECT_EQ(warm.posterior.name(), "vfe");
  EXPECT_EQ(std::count(told.begin(), told.end(), "warm start: training with fitc first"), 1);
  EXPECT_GE(warm.summary.value, warm.summary.initial_value);
  // It goes on from FITC's optimum: the bound at that point is where its training begins.
  SparseRegression at(d.X, d.Y, {.approximation = "vfe", .inducing = 5});
  at.set_parameters(fitc.parameters, fitc.posterior.as<SparsePosterior>().parts().features);
  EXPECT_NEAR(warm.summary.initial_value, at.evaluate().value, 1e-6);

  options.inducing = 0;
  EXPECT_THROW(SparseRegression(d.X, d.Y, options), InputError);
  options.inducing = 5;
  options.warm_start = "pitc";
  EXPECT_THROW(SparseRegression(d.X, d.Y, options), InputError);
}

TEST(SparseRegression, NoSignalIsNotConvergence) {
  Random random(11);
  const RowMatrix X = random.normal_matrix(150, 3), Y = random.normal_matrix(150, 1);
  const RegressionFit fit = SparseRegression(X, Y, {.inducing = 10}).fit();
  if (fit.value <= diagnostic(fit, "noise_only")) {
    EXPECT_FALSE(fit.summary.converged);
    ASSERT_FALSE(fit.summary.warnings.empty());
    EXPECT_NE(fit.summary.warnings.back().find("no signal"), std::string::npos);
  } else {
    EXPECT_LT(fit.value, diagnostic(fit, "noise_only") + 5.0);
  }
}

TEST(SparseRegression, GivenInducingInputsAreKeptWhenFixed) {
  const SmallData d = small_data(80, 2, 1, 9);
  const RowMatrix Z = d.X.topRows(6);
  SparseRegressionOptions options;
  options.Z = Z;
  options.training.max_iterations = 20;
  SparseRegression model(d.X, d.Y, options);
  model.parameters().fix("features.Z");
  const RegressionFit fit = model.fit();
  const Vector& z = parts_of(fit).values.z;
  const RowMatrix kept = fit.input_scaling.undo(Eigen::Map<const RowMatrix>(z.data(), 6, 2));
  EXPECT_LT((kept - Z).cwiseAbs().maxCoeff(), 1e-12);
}

TEST(SparseRegression, SeveralOutputsWithMissingValuesAndKnownNoise) {
  SmallData d = small_data(120, 2, 2, 13);
  d.Y(5, 0) = d.Y(17, 1) = std::nan("");
  SparseRegressionOptions options{.inducing = 15};
  options.training.max_iterations = 40;
  const RegressionFit fit =
      SparseRegression(d.X, d.Y, options, Vector::LinSpaced(120, 0.0, 0.01)).fit();
  const Prediction p = fit.predict(d.X);
  EXPECT_EQ(parts_of(fit).groups.size(), 2u);
  double square = 0.0;
  for (Index i = 0; i < 120; ++i)
    for (Index k = 0; k < 2; ++k)
      if (!std::isnan(d.Y(i, k))) square += std::pow(p.mean(i, k) - d.Y(i, k), 2);
  EXPECT_LT(std::sqrt(square / 238.0), 0.2);
}

TEST(SparseRegression, ResumedTrainingEndsWithTheSameBits) {
  const SmallData d = small_data(150, 2, 1, 15);
  SparseRegressionOptions options{.inducing = 8};
  options.training.max_iterations = 25;
  std::vector<TrainingState> states;
  options.training.after_iteration = [&](const TrainingProgress& p) {
    states.push_back(p.state());
  };
  const RegressionFit whole = SparseRegression(d.X, d.Y, options).fit();
  ASSERT_GT(states.size(), 10u);
  options.training.after_iteration = nullptr;
  SparseRegression again(d.X, d.Y, options);
  again.resume(states[7]);
  const RegressionFit resumed = again.fit();
  EXPECT_EQ(resumed.value, whole.value);
  EXPECT_EQ(parts_of(resumed).values.z, parts_of(whole).values.z);
}

// From parameters that are given: the first start is there, the others lie around it.
TEST(SparseRegression, StartsAroundGivenParameters) {
  const SmallData d = small_data(120, 2, 1, 15);
  for (const Placement placement : {Placement::bound, Placement::expected_kl}) {
    SparseRegressionOptions options{.inducing = 8};
    options.placement = placement;
    options.subset = 0;
    options.training.max_iterations = 12;
    const RegressionFit one = SparseRegression(d.X, d.Y, options).fit();
    options.training.starts = 3;
    std::vector<TrainingState> states;
    options.training.after_iteration = [&](const TrainingProgress& p) {
      states.push_back(p.state());
    };
    const RegressionFit three = SparseRegression(d.X, d.Y, options).fit();
    options.training.after_iteration = nullptr;
    ASSERT_EQ(three.summary.starts.size(), 3U);
    EXPECT_NE(three.summary.starts[0].value, three.summary.starts[1].value);
    EXPECT_NE(three.summary.starts[1].value, three.summary.starts[2].value);
    EXPECT_GE(three.value, one.value);
    EXPECT_GT(three.summary.evaluations, one.summary.evaluations);
    for (const std::size_t i : {states.size() / 4, states.size() / 2, states.size() - 1}) {
      SparseRegression again(d.X, d.Y, options);
      again.resume(states[i]);
      const RegressionFit resumed = again.fit();
      EXPECT_EQ(resumed.value, three.value);
      EXPECT_EQ(resumed.parameters.values(), three.parameters.values());
      EXPECT_EQ(resumed.summary.evaluations, three.summary.evaluations);
    }
  }
}

// What is told is of all parts: the value where training began, and the evaluations.
TEST(SparseRegression, TheSummaryIsOfAllParts) {
  const SmallData d = small_data(120, 2, 1, 15);
  SparseRegressionOptions options{.inducing = 8};
  options.training.max_iterations = 30;
  const Summary s = SparseRegression(d.X, d.Y, options).fit().summary;
  EXPECT_EQ(s.iterations, static_cast<Index>(s.trace.size()) - 1);
  EXPECT_EQ(s.trace.back().iteration, s.iterations);
  EXPECT_EQ(s.initial_value, s.trace.front().value);
  EXPECT_GT(s.evaluations, s.iterations);
}

// Also when the number of inducing inputs was looked for, or they are not trained.
TEST(SparseRegression, ResumedWithAutomaticOrFixedInducingInputs) {
  const SmallData d = small_data(300, 1, 1, 25);
  for (const bool automatic : {true, false}) {
    SparseRegressionOptions options{.inducing = automatic ? 0 : 6};
    options.training.max_iterations = 60;
    options.training.function_tolerance = 1e-14;
    std::vector<TrainingState> states;
    options.training.after_iteration = [&](const TrainingProgress& p) {
      states.push_back(p.state());
    };
    const auto fit = [&](const TrainingState* from) {
      SparseRegression model(d.X, d.Y, options);
      if (!automatic) model.parameters().fix("features.Z");
      if (from) model.resume(*from);
      return model.fit();
    };
    const RegressionFit whole = fit(nullptr);
    ASSERT_FALSE(states.empty());
    const TrainingState middle = states[states.size() / 2];
    options.training.after_iteration = nullptr;
    const RegressionFit resumed = fit(&middle);
    EXPECT_EQ(resumed.value, whole.value);
    EXPECT_EQ(parts_of(resumed).values.z, parts_of(whole).values.z);
  }
}

TEST(SparseRegression, SameBitsForAnyThreads) {
  const SmallData d = small_data(600, 2, 1, 17);
  SparseRegressionOptions options{.inducing = 12};
  options.training.max_iterations = 10;
  set_threads(1);
  const RegressionFit one = SparseRegression(d.X, d.Y, options).fit();
  set_threads(3);
  const RegressionFit three = SparseRegression(d.X, d.Y, options).fit();
  set_threads(0);
  EXPECT_EQ(one.value, three.value);
  EXPECT_EQ(one.parameters.values(), three.parameters.values());
}

TEST(SparseRegression, Refusals) {
  const SmallData d = small_data(20, 2, 1, 1);
  EXPECT_THROW(SparseRegression(d.X, d.Y, {.inducing = -1}), InputError);
  SparseRegressionOptions wide;
  wide.Z = RowMatrix::Zero(3, 5);
  EXPECT_THROW(SparseRegression(d.X, d.Y, wide), InputError);
  SparseRegressionOptions jitter;
  jitter.jitter = -1.0;
  EXPECT_THROW(SparseRegression(d.X, d.Y, jitter), InputError);
  const RegressionFit fit = SparseRegression(d.X, d.Y, {.inducing = 5}).fit();
  EXPECT_THROW(fit.leave_one_out(), Unsupported);
}

// Repeated inducing inputs are one (P20), by jitter or not.
TEST(SparseRegression, RepeatedInducingInputs) {
  const SmallData d = small_data(60, 1, 1, 19);
  RowMatrix Z(4, 1);
  Z << -1.0, 0.0, 0.0, 1.0;
  SparseRegressionOptions twice, once;
  twice.Z = Z;
  once.Z = RowMatrix(3, 1);
  once.Z << -1.0, 0.0, 1.0;
  twice.training.max_iterations = once.training.max_iterations = 0;
  const double a = SparseRegression(d.X, d.Y, twice).evaluate().value,
               b = SparseRegression(d.X, d.Y, once).evaluate().value;
  EXPECT_NEAR(a, b, 1e-4 * std::abs(b));
}

}  // namespace
}  // namespace covary
