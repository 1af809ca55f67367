#include <gtest/gtest.h>

#include <cmath>

#include "covary/error.hpp"
#include "covary/models/generalised.hpp"
#include "covary/models/sparse_regression.hpp"
#include "inference/function_case.hpp"
#include "support/gradient_check.hpp"

namespace covary {
namespace {

using testing::latent_case;

struct Circle {
  RowMatrix X;
  Vector y;
};
Circle circle(Index N) {
  const auto d = testing::small_data(N, 2, 1, 7);
  Circle out{d.X, Vector(N)};
  for (Index n = 0; n < N; ++n) out.y(n) = d.X(n, 0) * d.X(n, 0) + d.X(n, 1) > 0.5 ? 1 : 0;
  return out;
}

GeneralisedOptions sparse(const char* likelihood, double power, Index inducing) {
  GeneralisedOptions o;
  o.likelihood = likelihood;
  o.method = Inference::sparse_ep;
  o.power = power;
  o.inducing = inducing;
  return o;
}

TEST(GeneralisedSparseEp, ObjectiveGradientInEveryParameter) {
  for (const auto& [likelihood, power] : std::vector<std::pair<const char*, double>>{
           {"bernoulli(probit)", 1.0}, {"student_t", 0.5}, {"poisson", 0.5}}) {
    const auto c = latent_case(likelihood, 5);
    GeneralisedOptions o = sparse(likelihood, power, 4);
    o.mean = "constant";
    o.jitter = 1e-6;
    o.aux = c.model.aux;
    Generalised model(c.model.X, c.model.y, o);
    ASSERT_EQ(model.parameters().at("features.Z").value.size(), 8);
    model.parameters().set_prior("kernel.variance", Prior::parse("lognormal(0,1)"));
    const Vector u = model.parameters().flatten();
    Vector g(u.size());
    model.objective(u, &g);
    expect_gradient([&](const Vector& at) { return model.objective(at, nullptr).value(); }, g, u);
  }
}

// Features of any kind, with their gradients, trained and kept.
TEST(GeneralisedSparseEp, OtherFeatures) {
  const Circle d = circle(40);
  for (const char* features : {"basis(2)", "multiscale", "frequency", "eigen"}) {
    SCOPED_TRACE(features);
    GeneralisedOptions o = sparse("bernoulli(probit)", 1.0, 6);
    o.kernel = "se";
    o.features = features;
    o.jitter = 1e-6;
    o.training.max_iterations = 3;
    Generalised model(d.X, d.y, o);
    ASSERT_EQ(model.inducing(), 6);
    const Vector u = model.parameters().flatten();
    Vector g(u.size());
    model.objective(u, &g);
    expect_gradient([&](const Vector& at) { return model.objective(at, nullptr).value(); }, g, u);
    const double before = model.value();
    const GeneralisedFit fit = model.fit();
    EXPECT_GT(fit.value, before);
    EXPECT_EQ(fit.posterior.inducing().features->name(), FeatureChoice(features).name());
  }
  GeneralisedOptions o = sparse("bernoulli(probit)", 1.0, 6);
  o.features = "rff";
  EXPECT_THROW(Generalised(d.X, d.y, o), InputError);
  o = {.method = Inference::laplace, .features = "basis(2)"};
  EXPECT_THROW(Generalised(d.X, d.y, o), InputError);
}

// Features that lie around inputs are chosen again when the kernel is better known, unless some of
// what they are was said.
TEST(GeneralisedSparseEp, WhatIsSaidOfFeaturesHolds) {
  const Circle d = circle(60);
  GeneralisedOptions o = sparse("bernoulli(probit)", 1.0, 5);
  o.features = "multiscale";
  o.training.max_iterations = 5;
  Generalised model(d.X, d.y, o);
  const Vector widths =
      Vector::Constant(model.parameters().at("features.widths").value.size(), 0.2);
  model.parameters().set("features.widths", widths);
  model.parameters().fix("features.widths");
  const GeneralisedFit fit = model.fit();
  EXPECT_EQ(fit.parameters.at("features.widths").value, widths);
}

// Gaussian noise: the evidence and the predictions of fitc and pep(α), in the data's units.
TEST(GeneralisedSparseEp, GaussianIsSparseRegression) {
  const auto d = testing::small_data(40, 2, 1, 2);
  const Vector y = (50.0 + 7.0 * d.Y.col(0).array()).matrix();
  for (const double power : {1.0, 0.5}) {
    SparseRegressionOptions r;
    r.approximation = power == 1.0 ? Approximation("fitc") : Approximation("pep(0.5)");
    r.Z = d.X.topRows(7);
    r.training.max_iterations = 0;
    const RegressionFit regression = SparseRegression(d.X, RowMatrix(y), r).fit();
    GeneralisedOptions o = sparse("gaussian", power, 7);
    o.inducing = 0;
    o.Z = d.X.topRows(7);
    o.training.max_iterations = 0;
    Generalised model(d.X, y, o);
    for (const Parameter& p : regression.parameters.all()) model.parameters().set(p.path, p.value);
    const GeneralisedFit fit = model.fit();
    EXPECT_EQ(fit.model, r.approximation.print());
    EXPECT_NEAR(fit.value, regression.value, 1e-8 * std::abs(fit.value));
    const Prediction p = regression.predict(d.X.bottomRows(5));
    const GeneralisedPrediction q = fit.predict(d.X.bottomRows(5));
    EXPECT_LT((p.mean.col(0) - q.mean).cwiseAbs().maxCoeff(), 1e-7);
    EXPECT_LT((p.variance_y.col(0) - q.variance).cwiseAbs().maxCoeff(), 1e-6);
  }
}

// With an inducing input at every row it is EP itself.
TEST(GeneralisedSparseEp, InducingInputsAtTheRowsAreEp) {
  const auto c = latent_case("bernoulli(logit)", 4);
  GeneralisedOptions o;
  o.kernel = "matern12";
  o.method = Inference::ep;
  o.training.max_iterations = 0;
  const GeneralisedFit full = Generalised(c.model.X, c.model.y, o).fit();
  o.method = Inference::sparse_ep;
  o.Z = c.model.X;
  const GeneralisedFit through = Generalised(c.model.X, c.model.y, o).fit();
  EXPECT_EQ(through.model, "fitc");
  EXPECT_EQ(through.summary.objective, "log_evidence(fitc)");
  EXPECT_NEAR(through.value, full.value, 1e-6);
  const RowMatrix X_new = Random(3).normal_matrix(6, 2);
  EXPECT_LT((through.predict(X_new).probabilities - full.predict(X_new).probabilities)
                .cwiseAbs()
                .maxCoeff(),
            1e-6);
}

TEST(GeneralisedSparseEp, TrainingMovesInducingInputsAndTellsClassesApart) {
  const Circle d = circle(100);
  for (const Selection how : {Selection::greedy_variance, Selection::informative_vectors}) {
    GeneralisedOptions o = sparse("bernoulli(probit)", 1.0, 10);
    o.selection = how;
    o.classes = {"low", "high"};
    o.training.max_iterations = 15;
    Generalised model(d.X, d.y, o);
    const Vector Z = model.parameters().at("features.Z").value;
    const double before = model.value();
    const GeneralisedFit fit = model.fit();
    EXPECT_EQ(fit.model, "fitc");
    EXPECT_GT(fit.value, before + 5.0);
    EXPECT_GT((model.parameters().at("features.Z").value - Z).cwiseAbs().maxCoeff(), 1e-3);
    EXPECT_TRUE(fit.posterior.can(Capability::inducing));
    const Matrix p = fit.predict(d.X).probabilities;
    Index right = 0;
    for (Index n = 0; n < 100; ++n) right += (p(n, 1) > 0.5) == (d.y(n) == 1.0);
    EXPECT_GE(right, 94) << print(how);
  }
}

// What training was told after an iteration is enough to go on from, to the same end.
TEST(GeneralisedSparseEp, ResumedTrainingEndsTheSame) {
  const Circle d = circle(60);
  GeneralisedOptions o = sparse("bernoulli", 1.0, 6);
  o.training.max_iterations = 8;
  std::optional<TrainingState> kept;
  o.training.after_iteration = [&](const TrainingProgress& now) {
    if (now.run && now.run->iterations == 3) kept = now.state();
  };
  const GeneralisedFit whole = Generalised(d.X, d.y, o).fit();
  ASSERT_TRUE(kept.has_value());
  o.training.after_iteration = nullptr;
  Generalised model(d.X, d.y, o);
  model.resume(*kept);
  EXPECT_EQ(model.fit().value, whole.value);
}

// Rows without a target are no inducing inputs, though greedy choices are drawn to outliers.
TEST(GeneralisedSparseEp, MissingTargets) {
  Circle d = circle(40);
  d.X.bottomRows(3).setConstant(50.0);
  d.y.tail(3).setConstant(std::nan(""));
  for (const Selection how : {Selection::greedy_variance, Selection::informative_vectors}) {
    GeneralisedOptions o = sparse("bernoulli", 1.0, 5);
    o.selection = how;
    o.scale_inputs = ScaleMode::none;
    o.training.max_iterations = 0;
    Generalised model(d.X, d.y, o);
    EXPECT_LT(model.parameters().at("features.Z").value.maxCoeff(), 50.0);
    EXPECT_EQ(model.fit().rows, 37);
    o.inducing = 38;
    EXPECT_THROW(Generalised(d.X, d.y, o), InputError);
  }
}

TEST(GeneralisedSparseEp, BadInputSaysWhatToDo) {
  const Circle d = circle(10);
  const auto refusal = [&](const GeneralisedOptions& o) -> std::string {
    try {
      const Generalised model(d.X, d.y, o);
    } catch (const Error& e) {
      return e.what();
    }
    return "accepted";
  };
  const auto has = [](const std::string& text, const char* part) {
    return ::testing::AssertionResult(text.find(part) != std::string::npos) << text;
  };
  EXPECT_TRUE(
      has(refusal(sparse("bernoulli", 1.0, 11)), "11 inducing inputs are more than the 10"));
  EXPECT_TRUE(has(refusal(sparse("bernoulli", 1.0, -1)), "at least 1"));
  EXPECT_TRUE(has(refusal(sparse("bernoulli", 1.5, 5)), "(0, 1], got 1.5"));
  EXPECT_TRUE(has(refusal(sparse("softmax(3)", 1.0, 5)), "fitc or pep"));
  GeneralisedOptions o = sparse("bernoulli", 1.0, 5);
  o.Z = RowMatrix::Zero(2, 3);
  EXPECT_TRUE(has(refusal(o), "3 columns, X has 2"));
  o = sparse("bernoulli", 1.0, 5);
  o.method = Inference::ep;
  EXPECT_TRUE(has(refusal(o), "fitc"));
}

}  // namespace
}  // namespace covary
