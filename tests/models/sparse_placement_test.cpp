#include <gtest/gtest.h>

#include <cmath>

#include "covary/error.hpp"
#include "covary/inference/gaussian.hpp"
#include "covary/linalg/blas.hpp"
#include "covary/models/sparse_regression.hpp"
#include "covary/random/random.hpp"
#include "inference/expected_kl.hpp"

namespace covary {
namespace {

constexpr double noise = 0.05;

struct Data {
  RowMatrix X, Y;
  explicit Data(std::uint64_t seed, Index N = 120, Index P = 1) {
    Random random(3);
    X = 2.0 * random.normal_matrix(N, 2);
    Matrix K = gram("se", Vector::Ones(2), X);
    K.diagonal().array() += noise;
    Y = product(cholesky(K).L, Matrix(Random(seed).normal_matrix(N, P)));
  }
};

SparseRegressionOptions options(Placement placement) {
  SparseRegressionOptions o;
  o.kernel = "se";
  o.inducing = 20;
  o.placement = placement;
  o.scale_inputs = o.scale_outputs = ScaleMode::none;
  o.training.max_iterations = 100;
  o.subset = 0;
  return o;
}

// A model that knows the kernel and the noise: only Z is trained.
SparseRegression with_known_kernel(const Data& d, const SparseRegressionOptions& o) {
  SparseRegression model(d.X, d.Y, o);
  model.parameters().set("kernel.variance", Vector::Ones(1));
  model.parameters().set("kernel.lengthscale", Vector::Ones(1));
  model.parameters().set("likelihood.variance", Vector::Constant(1, noise));
  model.parameters().fix("kernel");
  model.parameters().fix("likelihood");
  return model;
}

double diagnostic(const RegressionFit& fit, const std::string& name) {
  for (const auto& [key, value] : fit.diagnostics)
    if (key == name) return value;
  return std::nan("");
}

TEST(Placement, NamesComeBack) {
  for (const Placement p : {Placement::bound, Placement::expected_kl})
    EXPECT_EQ(parse_placement(print(p)), p);
  EXPECT_THROW(parse_placement("kl"), InputError);
}

TEST(Placement, LowersTheExpectedKlWhateverTheOutputs) {
  const Data one(1), other(2);
  SparseRegression model = with_known_kernel(one, options(Placement::expected_kl));
  const double before = model.mean_kl();
  const RegressionFit fit = model.fit();
  SparseRegression by_bound = with_known_kernel(one, options(Placement::bound));
  by_bound.fit();
  EXPECT_LT(model.mean_kl(), 0.9 * before);
  EXPECT_LT(model.mean_kl(), by_bound.mean_kl());
  EXPECT_GT(by_bound.evaluate().value, model.evaluate().value);  // of these outputs
  EXPECT_EQ(diagnostic(fit, "expected_kl"), model.mean_kl());
  EXPECT_TRUE(std::isnan(diagnostic(by_bound.fit(), "expected_kl")));
  EXPECT_EQ(fit.posterior.name(), "vfe");
  EXPECT_EQ(fit.summary.objective, "elbo");
  EXPECT_EQ(fit.summary.value, model.evaluate().value);
  // What it does not look at does not change it.
  SparseRegression same = with_known_kernel(other, options(Placement::expected_kl));
  EXPECT_EQ(same.fit().parameters.at("features.Z").value, fit.parameters.at("features.Z").value);
}

// Inducing inputs of one set of outputs serve 200 others of the model less well than those placed
// for all: by the mean bound, whose distance from the mean evidence is the expected KL.
TEST(Placement, ServesFurtherOutputs) {
  const Data seen(1), further(7, 120, 200);
  const auto mean_bound = [&](Placement placement) {
    SparseRegression model = with_known_kernel(seen, options(placement));
    model.fit();
    SparseRegressionOptions o = options(Placement::bound);
    o.Z = Eigen::Map<const RowMatrix>(model.parameters().at("features.Z").value.data(), 20, 2);
    return with_known_kernel(further, o).evaluate().value / 200.0;
  };
  EXPECT_GT(mean_bound(Placement::expected_kl), mean_bound(Placement::bound) + 0.1);
}

TEST(Placement, TrainsTheRestInTurns) {
  const Data d(4);
  SparseRegressionOptions o = options(Placement::expected_kl);
  o.subset = 100;
  o.inducing = 60;
  SparseRegression model(d.X, d.Y, o);
  const RegressionFit fit = model.fit();
  EXPECT_NEAR(std::log(fit.parameters.at("likelihood.variance").value(0) / noise), 0.0, 0.7);
  EXPECT_NEAR(std::log(fit.parameters.at("kernel.lengthscale").value(0)), 0.0, 0.4);
  // At its end only the features could be moved by another objective: the rest is at the bound's
  // optimum.
  SparseRegression there(d.X, d.Y, options(Placement::bound));
  there.set_parameters(fit.parameters, model.features());
  there.parameters().fix("features");
  Jitter jitter;
  Vector gradient;
  const Vector u = there.parameters().flatten();
  there.objective(u, &gradient, jitter);
  EXPECT_LT(gradient.cwiseAbs().maxCoeff(), 1e-3);
}

// A part of the rows stands for all of them.
TEST(Placement, APartOfTheRowsComesNear) {
  const Data d(5, 400);
  SparseRegressionOptions o = options(Placement::expected_kl);
  SparseRegression all = with_known_kernel(d, o);
  o.placement_rows = 150;
  SparseRegression some = with_known_kernel(d, o);
  const double start = all.mean_kl();
  all.fit();
  some.fit();
  all.set_parameters(some.parameters(), some.features());
  const double by_some = all.mean_kl();
  EXPECT_LT(by_some, 0.5 * start);
}

TEST(Placement, GoesOnWithTheSameBits) {
  const Data d(6, 60);
  SparseRegressionOptions o = options(Placement::expected_kl);
  o.inducing = 8;
  o.subset = 40;
  o.training.max_iterations = 12;
  std::vector<TrainingState> states;
  o.training.after_iteration = [&](const TrainingProgress& p) { states.push_back(p.state()); };
  const RegressionFit whole = SparseRegression(d.X, d.Y, o).fit();
  o.training.after_iteration = nullptr;
  ASSERT_GT(states.size(), 20u);
  for (std::size_t i = 0; i < states.size(); i += 7) {
    SparseRegression model(d.X, d.Y, o);
    model.resume(states[i]);
    const RegressionFit fit = model.fit();
    EXPECT_EQ(fit.parameters.values(), whole.parameters.values()) << i;
    EXPECT_EQ(fit.summary.value, whole.summary.value) << i;
  }
}

TEST(Placement, Refusals) {
  const Data d(1, 40);
  const auto with = [&](const auto& change) {
    SparseRegressionOptions o = options(Placement::expected_kl);
    change(o);
    return SparseRegression(d.X, d.Y, o);
  };
  EXPECT_THROW(with([](auto& o) { o.approximation = "fitc"; }), InputError);
  EXPECT_THROW(with([](auto& o) { o.inducing = 0; }), InputError);
  EXPECT_THROW(with([](auto& o) { o.warm_start = "fitc"; }), InputError);
  EXPECT_THROW(with([](auto& o) { o.placement_rows = 0; }), InputError);
  SparseRegression fixed = with([](auto&) {});
  fixed.parameters().fix("features");
  EXPECT_THROW(fixed.fit(), InputError);
  SparseRegressionOptions o = options(Placement::bound);
  o.approximation = "fitc";
  EXPECT_THROW(SparseRegression(d.X, d.Y, o).mean_kl(), InputError);
}

// The bound at its choice, and the error of DTC at its choice, beat the mean of random rows; both
// are refused where they have no sense.
TEST(Selection, ByGain) {
  const Data d(4);
  SparseRegressionOptions o = options(Placement::bound);
  o.inducing = 12;
  const auto bound = [&](Selection how) {
    o.selection = how;
    return with_known_kernel(d, o).evaluate().value;
  };
  const auto error = [&](Selection how) {
    o.selection = how;
    o.training.max_iterations = 0;
    return (with_known_kernel(d, o).fit().predict(d.X).mean - d.Y).squaredNorm();
  };
  double value = 0.0, squares = 0.0;  // means: single draws scatter
  o.approximation = "dtc";
  for (o.seed = 0; o.seed < 20; ++o.seed) squares += error(Selection::random) / 20.0;
  EXPECT_LT(error(Selection::information_gain), 0.9 * squares);
  o.approximation = "vfe";
  for (o.seed = 0; o.seed < 20; ++o.seed) value += bound(Selection::random) / 20.0;
  EXPECT_GT(bound(Selection::bound_gain), value + 10.0);
  o.training.max_iterations = 5;
  EXPECT_TRUE(std::isfinite(SparseRegression(d.X, d.Y, o).fit().value));
  o.approximation = "fitc";
  EXPECT_TRUE(std::isfinite(bound(Selection::information_gain)));
  EXPECT_THROW(bound(Selection::bound_gain), InputError);
  const Kernel kernel = "se";
  for (const Selection how : {Selection::bound_gain, Selection::information_gain}) {
    EXPECT_EQ(parse_selection(print(how)), how);
    EXPECT_TRUE(looks_at_parameters(how));
    EXPECT_THROW(select_inducing(how, 3, d.X, kernel, Vector::Ones(2), 0), Unsupported);
  }
}

}  // namespace
}  // namespace covary
