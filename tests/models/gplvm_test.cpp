#include "covary/models/gplvm.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numbers>

#include "covary/error.hpp"
#include "covary/inference/uncertain_inputs.hpp"
#include "covary/linalg/blas.hpp"
#include "covary/linalg/cholesky.hpp"
#include "covary/models/sparse_regression.hpp"
#include "covary/random/random.hpp"
#include "inference/row_density.hpp"
#include "support/gradient_check.hpp"

namespace covary {
namespace {

RowMatrix rows_of(Index n, Index d, std::initializer_list<double> values) {
  RowMatrix out(n, d);
  std::copy(values.begin(), values.end(), out.data());
  return out;
}
Vector flat(const RowMatrix& m) { return Eigen::Map<const Vector>(m.data(), m.size()); }

const RowMatrix Y = rows_of(4, 2, {.5, -.2, 1.1, .4, -.7, .9, .3, -1.0});
const RowMatrix Z = rows_of(3, 2, {0, 0, 1, -.5, -1, .7});
const Vector lengths = (Vector(2) << 1.0 / std::sqrt(0.7), 1.0 / std::sqrt(2.1)).finished();

GplvmOptions plain() {
  GplvmOptions o;
  o.latent = 2;
  o.inducing = 3;
  o.scale_outputs = ScaleMode::none;
  return o;
}
void set_mapping(Gplvm& model, const std::string& prefix = "") {
  model.parameters().set(prefix + "kernel.variance", 1.3);
  model.parameters().set(prefix + "kernel.lengthscales", lengths);
  model.parameters().set(prefix + "likelihood.variance", 0.2);
  model.parameters().set(prefix + "features.Z", flat(Z));
}
Gplvm fixture_a(GplvmOptions options = plain()) {
  Gplvm model(Y, std::move(options));
  model.parameters().set("latent.mean", flat(rows_of(4, 2, {.1, -.4, .8, .3, -1.2, .5, .6, -.9})));
  model.parameters().set("latent.variance",
                         flat(rows_of(4, 2, {.05, .2, .3, .1, .15, .4, .25, .08})));
  return model;
}
void check_gradient(const Gplvm& model) {
  const Vector u = model.parameters().flatten();
  Jitter jitter;
  Vector gradient(u.size());
  model.objective(u, &gradient, jitter);
  expect_gradient([&](const Vector& v) { return *model.objective(v, nullptr, jitter); }, gradient,
                  u);
}

TEST(Gplvm, BoundOfTheFixture) {
  Gplvm model = fixture_a();
  set_mapping(model);
  EXPECT_NEAR(model.elbo(), -27.1126111661, 1e-9);
  check_gradient(model);
}

TEST(Gplvm, DynamicalBoundOfTheFixture) {
  GplvmOptions o = plain();
  o.times = rows_of(4, 1, {0, .4, 1.1, 1.5});
  o.dynamics = "se + white";
  Gplvm model(Y, o);
  set_mapping(model);
  const Vector theta = (Vector(3) << 1.0, 0.8, 0.01).finished();
  const Matrix K = gram("se + white", theta, o.times);
  const RowMatrix weights = rows_of(4, 2, {.3, -.4, -.2, .6, .5, .2, .1, -.1});
  model.parameters().set("latent.whitened", flat(cholesky(K, "K").L.transpose() * weights));
  model.parameters().set("latent.precisions",
                         flat(rows_of(4, 2, {1.5, .4, .7, 1.1, 2.2, 3.0, .9, .6})));
  model.parameters().set("dynamics.0.variance", 1.0);
  model.parameters().set("dynamics.0.lengthscales", 0.8);
  model.parameters().set("dynamics.1.variance", 0.01);
  EXPECT_NEAR(model.elbo(), -26.4691043054, 1e-9);
  check_gradient(model);
}

// E36 and E37: a view by itself is the model, and columns may be parted among views with equal
// mappings.
TEST(Gplvm, ViewsWithEqualMappingsAreOneView) {
  GplvmOptions o = plain();
  o.views = {{"a", {0}}, {"b", {1}}};
  Gplvm parted = fixture_a(o);
  set_mapping(parted, "views.a.");
  set_mapping(parted, "views.b.");
  EXPECT_NEAR(parted.elbo(), -27.1126111661, 1e-9);
  check_gradient(parted);
}

// More columns than rows are seen through a factor of YYᵀ: as parted among narrow views.
TEST(Gplvm, WideOutputsAreThoseOfNarrowViews) {
  Random random(11);
  const RowMatrix wide = random.normal_matrix(4, 10);
  const auto made = [&](const std::vector<LatentView>& views) {
    GplvmOptions o = plain();
    o.views = views;
    o.training.max_iterations = 0;
    o.held_iterations = 0;
    o.training.starts = 1;
    Gplvm model(wide, o);
    Random means(12);
    model.parameters().set("latent.mean", flat(means.normal_matrix(4, 2)));
    for (const auto& view : views)
      set_mapping(model, views.size() > 1 ? "views." + view.name + "." : "");
    if (views.empty()) set_mapping(model);
    return model;
  };
  Gplvm whole = made({});
  Gplvm parted = made({{"a", {0, 1, 2}}, {"b", {3, 4, 5, 6}}, {"c", {7, 8, 9}}});
  EXPECT_NEAR(whole.elbo(), parted.elbo(), 1e-9);
  check_gradient(whole);
  const GplvmFit a = whole.fit(), b = parted.fit();
  EXPECT_NEAR(a.value, b.value, 1e-9);
  const RowMatrix mean = a.mean.topRows(2), variance = a.variance.topRows(2);
  const Prediction pa = a.decode(mean, variance), pb = b.decode(mean, variance);
  ASSERT_EQ(pa.mean.cols(), 10);
  EXPECT_LT((pa.mean - pb.mean).cwiseAbs().maxCoeff(), 1e-10);
  EXPECT_LT((pa.variance_y - pb.variance_y).cwiseAbs().maxCoeff(), 1e-10);
}

// Known inputs are regression.
TEST(Gplvm, KnownInputsAreRegression) {
  Random random(4);
  const RowMatrix X = random.normal_matrix(20, 2);
  RowMatrix y(20, 1);
  for (Index i = 0; i < 20; ++i) y(i) = std::sin(X(i, 0)) + 0.1 * X(i, 1);
  GplvmOptions o = plain();
  o.given = X;
  Gplvm model(y, o);
  set_mapping(model);
  SparseRegressionOptions r;
  r.Z = Z;
  r.scale_inputs = r.scale_outputs = ScaleMode::none;
  SparseRegression regression(X, y, r);
  regression.parameters().set("kernel.variance", 1.3);
  regression.parameters().set("kernel.lengthscales", lengths);
  regression.parameters().set("likelihood.variance", 0.2);
  EXPECT_NEAR(model.elbo(), regression.evaluate().value, 1e-9);
}

TEST(UncertainInputs, MomentsOfTheFixture) {
  GplvmOptions o = plain();
  o.training.max_iterations = 0;
  o.held_iterations = 0;
  Gplvm evaluated = fixture_a(o);
  set_mapping(evaluated);
  const GplvmFit fit = evaluated.fit();
  EXPECT_NEAR(fit.value, -27.1126111661, 1e-9);
  const RowMatrix at = rows_of(1, 2, {.2, .1}), with = rows_of(1, 2, {.3, .05});
  const Prediction p = fit.decode(at, with);
  EXPECT_NEAR(p.mean(0, 0), 0.461376618415, 1e-10);
  EXPECT_NEAR(p.mean(0, 1), 0.176841027675, 1e-10);
  const Matrix covariance = UncertainInputs(fit.mappings[0].posterior).covariance(at, with);
  EXPECT_NEAR(covariance(0, 0), 0.393364870518, 1e-10);
  EXPECT_NEAR(covariance(1, 0), -0.051028158688, 1e-10);
  EXPECT_NEAR(covariance(1, 1), 0.454496736401, 1e-10);
  const Prediction certain = fit.decode(at);
  EXPECT_NEAR(certain.mean(0, 0), 0.566265342351, 1e-10);
  EXPECT_NEAR(certain.mean(0, 1), 0.206140976663, 1e-10);
  EXPECT_NEAR(certain.variance_f(0, 0), 0.210016298071, 1e-10);
  const Prediction none = fit.decode(at, RowMatrix::Zero(1, 2));
  EXPECT_LT((none.mean - certain.mean).cwiseAbs().maxCoeff(), 1e-12);
  EXPECT_LT((none.variance_f - certain.variance_f).cwiseAbs().maxCoeff(), 1e-12);
}

TEST(RowDensity, OfTheFixture) {
  GplvmOptions o = plain();
  o.training.max_iterations = 0;
  o.held_iterations = 0;
  Gplvm model = fixture_a(o);
  set_mapping(model);
  const GplvmFit fit = model.fit();
  const RowDensity density(fit.mappings[0].posterior.as<SparsePosterior>());
  const RowMatrix m = rows_of(1, 2, {.2, -.2}), S = rows_of(1, 2, {.2, .2}),
                  y = rows_of(1, 2, {.4, -.1});
  const double kl = 0.5 * (m.array().square() + S.array() - S.array().log() - 1.0).sum();
  EXPECT_NEAR(density(m.data(), S.data(), y.data()) - kl, -3.47220731105, 1e-9);
}

// Densities of rows in the units of the data: at least the bound, nothing for a row with nothing
// observed, near the truth for a model that is one, and less for rows that are not like the others.
TEST(Gplvm, LogDensityOfFurtherRows) {
  const auto cloud = [](Index n, std::uint64_t seed) {
    Random random(seed);
    const RowMatrix x = random.normal_matrix(n, 1), noise = random.normal_matrix(n, 3);
    RowMatrix out(n, 3);
    for (Index i = 0; i < n; ++i)
      out.row(i) << 10.0 * x(i, 0) + 40.0, -5.0 * x(i, 0), 3.0 * x(i, 0);
    return RowMatrix(out + noise);
  };
  GplvmOptions o;
  o.latent = 1;
  o.kernel = "linear(ard)";
  o.inducing = 2;
  o.training.starts = 1;
  o.training.max_iterations = 200;
  const GplvmFit fit = Gplvm(cloud(80, 1), o).fit();
  RowMatrix rows = cloud(20, 2);
  rows(3, 1) = std::nan("");
  rows.row(5).setConstant(std::nan(""));
  const Vector density = fit.log_density(rows), bound = fit.infer(rows).bound;
  EXPECT_GE((density - bound).minCoeff(), -1e-9);
  EXPECT_NEAR(density(5), 0.0, 1e-9);
  // The Gaussian that the rows were drawn from.
  Matrix C = Matrix::Identity(3, 3);
  const Vector w = (Vector(3) << 10.0, -5.0, 3.0).finished();
  C += w * w.transpose();
  const Cholesky c = cholesky(C, "C");
  double sum = 0.0, truth = 0.0;
  for (Index i = 0; i < 20; ++i) {
    if (i == 3 || i == 5) continue;
    const Vector r = rows.row(i).transpose() - (Vector(3) << 40.0, 0.0, 0.0).finished();
    truth -= 0.5 * (3.0 * std::log(2.0 * std::numbers::pi) + c.log_determinant() +
                    r.dot(Vector(c.solve(r))));
    sum += density(i);
  }
  EXPECT_NEAR(sum / 18.0, truth / 18.0, 0.2);
  RowMatrix odd = rows.topRows(1);
  odd(0, 1) += 30.0;
  EXPECT_LT(fit.log_density(odd)(0), density(0) - 50.0);
}

TEST(UncertainInputs, RowTermMatchesDifferences) {
  GplvmOptions o = plain();
  o.training.max_iterations = 0;
  o.held_iterations = 0;
  Gplvm model = fixture_a(o);
  set_mapping(model);
  const UncertainInputs map(model.fit().mappings[0].posterior);
  for (const double second : {-0.3, std::numeric_limits<double>::quiet_NaN()}) {
    const double y[] = {0.4, second};
    const UncertainInputs::RowTerm term(map, y);
    const Vector x = (Vector(4) << .2, -.2, .2, .3).finished();
    Vector gradient = Vector::Zero(4);
    const double value = term(x.data(), x.data() + 2, gradient.data(), gradient.data() + 2);
    expect_gradient([&](const Vector& v) { return term(v.data(), v.data() + 2, nullptr, nullptr); },
                    gradient, x);
    // ⟨log N(y|f, σ²)⟩ from the moments
    const Prediction p = map.predict(x.head(2).transpose(), x.tail(2).transpose());
    double expected = 0.0;
    for (Index k = 0; k < 2; ++k)
      if (!std::isnan(y[k]))
        expected -= 0.5 * std::log(2 * M_PI * 0.2) +
                    (std::pow(y[k] - p.mean(0, k), 2) + p.variance_f(0, k)) / 0.4;
    EXPECT_NEAR(value, expected, 1e-10);
  }
}

// Rows on a curve in six columns: the model finds one dimension, decodes it and places rows.
struct Curve {
  RowMatrix Y = RowMatrix(80, 6);
  Curve() {
    Random random(7);
    for (Index i = 0; i < 80; ++i) {
      const double t = -1.5 + 3.0 * static_cast<double>(i) / 79.0;
      Y.row(i) << t, std::sin(2 * t), t * t, std::cos(t), std::tanh(2 * t), 0.5 * t * t * t;
      for (Index p = 0; p < 6; ++p) Y(i, p) += 0.03 * random.normal();
    }
  }
};

TEST(Gplvm, FindsTheDimensionOfACurve) {
  const Curve curve;
  GplvmOptions o;
  o.latent = 4;
  o.inducing = 15;
  o.training.max_iterations = 2000;
  const GplvmFit fit = Gplvm(curve.Y, o).fit();
  EXPECT_EQ(fit.active().size(), 1u);
  const Matrix relevance = fit.relevance();
  EXPECT_EQ((relevance.array() > 0.01).count(), 1);
  const Prediction p = fit.decode(fit.mean, fit.variance);
  EXPECT_LT((p.mean - curve.Y).cwiseAbs().mean(), 0.06);
  EXPECT_GT(fit.parameters.at("likelihood.variance").value(0), 0.0);

  // B7: a training row is found where it is, also from half of its outputs.
  RowMatrix some = curve.Y(std::vector<Index>{10, 55}, Eigen::all);
  some(1, 0) = some(1, 2) = some(1, 5) = std::numeric_limits<double>::quiet_NaN();
  const auto found = fit.infer(some);
  const Index q = fit.active().front();
  EXPECT_NEAR(found.mean(0, q), fit.mean(10, q), 0.05);
  EXPECT_NEAR(found.mean(1, q), fit.mean(55, q), 0.2);
  const Prediction filled = fit.decode(found.mean, found.variance);
  EXPECT_NEAR(filled.mean(1, 0), curve.Y(55, 0), 0.15);
  // Nothing observed: the prior.
  const auto prior = fit.infer(RowMatrix::Constant(1, 6, std::numeric_limits<double>::quiet_NaN()));
  EXPECT_EQ(prior.mean, RowMatrix::Zero(1, 4));
  EXPECT_EQ(prior.variance, RowMatrix::Ones(1, 4));
}

TEST(Gplvm, DynamicsForecast) {
  RowMatrix series(40, 3), times(40, 1);
  Random random(1);
  for (Index i = 0; i < 40; ++i) {
    const double t = 0.15 * static_cast<double>(i);
    times(i) = t;
    series.row(i) << std::sin(t), std::cos(t), std::sin(2 * t);
    for (Index p = 0; p < 3; ++p) series(i, p) += 0.02 * random.normal();
  }
  GplvmOptions o;
  o.latent = 3;
  o.inducing = 15;
  o.times = times.topRows(37);
  o.training.max_iterations = 1000;
  const GplvmFit fit = Gplvm(series.topRows(37), o).fit();
  const LatentMarginals ahead = fit.forecast(times.bottomRows(3));
  const Prediction p = fit.decode(ahead.mean, ahead.variance);
  for (Index i = 0; i < 3; ++i)
    for (Index k = 0; k < 3; ++k)
      EXPECT_LT(std::abs(p.mean(i, k) - series(37 + i, k)), 3.0 * std::sqrt(p.variance_y(i, k)));
  EXPECT_LT((p.mean - series.bottomRows(3)).row(0).cwiseAbs().maxCoeff(), 0.15);
  // Of the dimensions that are used; which are not is a matter of the start.
  for (const Index q : fit.active()) EXPECT_LT(ahead.variance(0, q), 1.0);
  EXPECT_FALSE(fit.active().empty());
}

// Where it has come to rest the gradient in v and λ vanishes, and the bound has risen.
TEST(Gplvm, FixedPointOfDynamics) {
  RowMatrix series(20, 3), times(20, 1);
  Random random(3);
  for (Index i = 0; i < 20; ++i) {
    const double t = times(i) = 0.3 * static_cast<double>(i);
    series.row(i) << std::sin(t), std::cos(t), std::sin(2 * t);
    for (Index p = 0; p < 3; ++p) series(i, p) += 0.1 * random.normal();
  }
  GplvmOptions o;
  o.latent = 2;
  o.inducing = 8;
  o.times = times;
  o.training.starts = 1;
  o.held_iterations = 0;
  o.snr = 10.0;
  o.training.max_iterations = 1;
  const auto only_q = [](Gplvm& model) {
    const Parameters all = model.parameters();
    for (const Parameter& p : all.all())
      if (p.path != "latent.whitened" && p.path != "latent.precisions")
        model.parameters().fix(p.path);
  };
  const auto fitted = [&](Index steps) {
    o.fixed_point = steps;
    Gplvm model(series, o);
    only_q(model);
    return model.fit();
  };
  const auto slope = [&](const Parameters& at) {
    Gplvm model(series, o);
    only_q(model);
    model.parameters().set_values(at.values());
    Jitter jitter;
    Vector gradient;
    EXPECT_TRUE(model.objective(model.parameters().flatten(), &gradient, jitter));
    return gradient.norm();
  };
  const Gplvm start(series, o);
  const GplvmFit soon = fitted(5), late = fitted(2000);
  EXPECT_GT(soon.value, start.elbo() + 1.0);
  EXPECT_GT(late.value, soon.value);
  EXPECT_LT(slope(late.parameters), 1e-4 * slope(start.parameters()));
}

// What is said of the parameters holds for the model of rows that do not follow each other, from
// which the dynamics begin, and where they begin.
TEST(Gplvm, WhatIsGivenHoldsWithDynamics) {
  RowMatrix series(20, 3), times(20, 1);
  for (Index i = 0; i < 20; ++i) {
    const double t = times(i) = 0.3 * static_cast<double>(i);
    series.row(i) << std::sin(t), std::cos(t), std::sin(2 * t);
  }
  GplvmOptions o;
  o.latent = 2;
  o.inducing = 8;
  o.times = times;
  o.training.starts = 1;
  o.training.max_iterations = 20;
  o.held_iterations = 10;
  std::vector<Parameters> seen;
  const Gplvm* now = nullptr;
  o.training.tell = [&](const std::string&) { seen.push_back(now->parameters()); };
  const auto fitted = [&](const std::function<void(Parameters&)>& say) {
    Gplvm model(series, o);
    say(model.parameters());
    now = &model;
    seen.clear();
    return model.fit();
  };
  const GplvmFit some = fitted([](Parameters& p) {
    p.set("dynamics.0.lengthscale", 0.7);
    p.set("likelihood.variance", 0.02);
    p.tie("kernel.variance", "likelihood.variance", 40.0);
    p.set_bounds("kernel.lengthscales", 0.5, 3.0);
    p.set_prior("features.Z", Prior::parse("normal(0,1)"));
  });
  ASSERT_GE(seen.size(), 3U);  // without dynamics, with the noise held, all
  for (const Parameters& p : {seen[0], seen[1]}) {
    EXPECT_EQ(p.at("likelihood.variance").value(0), 0.02);
    EXPECT_EQ(p.at("kernel.variance").value(0), 0.8);
    EXPECT_EQ(p.at("kernel.variance").tied_to, "likelihood.variance");
    EXPECT_EQ(p.at("kernel.lengthscales").transform.high(), 3.0);
    EXPECT_TRUE(p.at("features.Z").prior);
  }
  EXPECT_EQ(seen[1].at("dynamics.0.lengthscale").value(0), 0.7);
  EXPECT_NE(seen[1].at("features.Z").value, seen[0].at("features.Z").value);
  EXPECT_DOUBLE_EQ(some.parameters.at("kernel.variance").value(0),
                   40.0 * some.parameters.at("likelihood.variance").value(0));
  const auto& lengthscales = some.parameters.at("kernel.lengthscales").value;
  EXPECT_TRUE((lengthscales.array() >= 0.5 && lengthscales.array() <= 3.0).all());

  // All of another fit: nothing is left to be found without dynamics.
  const GplvmFit again = fitted([&](Parameters& p) {
    for (const Parameter& own : some.parameters.all()) p.set(own.path, own.value);
  });
  EXPECT_EQ(seen.front().values(), some.parameters.values());
  EXPECT_GE(again.value, some.value);
  o.training.starts = 2;  // of which the second lies elsewhere
  const GplvmFit two = fitted([&](Parameters& p) {
    for (const Parameter& own : some.parameters.all()) p.set(own.path, own.value);
  });
  EXPECT_EQ(two.summary.starts.size(), 2U);
  EXPECT_GE(two.value, again.value);
}

TEST(Gplvm, BackConstraintBindsTheMeans) {
  RowMatrix rows = Random(5).normal_matrix(9, 3);
  rows.row(8) = rows.row(2);
  GplvmOptions o = plain();
  o.back_constraint = RecognitionOptions{.form = "network", .hidden = 3};
  check_gradient(Gplvm(rows, o));
  o.back_constraint = RecognitionOptions{};
  Gplvm model(rows, o);
  check_gradient(model);
  // The bound is that of free means at the same place.
  const RowMatrix means = model.fit().mean;
  EXPECT_LT((means.row(8) - means.row(2)).norm(), 1e-10);
  GplvmOptions without = o;
  without.back_constraint.reset();
  Gplvm free(rows, without);
  for (const Parameter& p : std::vector<Parameter>(free.parameters().all()))
    free.parameters().set(
        p.path, p.path == "latent.mean" ? flat(means) : model.parameters().at(p.path).value);
  EXPECT_NEAR(free.elbo(), model.elbo(), 1e-8 * std::abs(model.elbo()));
  o.times = Vector::LinSpaced(9, 0.0, 1.0);
  EXPECT_THROW(Gplvm(rows, o), InputError);
  o.times.resize(0, 0);
  rows(1, 1) = std::numeric_limits<double>::quiet_NaN();
  EXPECT_THROW(Gplvm(rows, o), InputError);
}

TEST(Gplvm, BadInput) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const RowMatrix good = Random(1).normal_matrix(6, 3);
  const auto refuses = [&](const RowMatrix& rows, const GplvmOptions& o) {
    EXPECT_THROW(Gplvm(rows, o), InputError);
  };
  GplvmOptions o;
  o.latent = 0;
  refuses(good, o);
  o = {};
  RowMatrix bad = good;
  bad.row(2).setConstant(nan);
  refuses(bad, o);
  bad = good;
  bad(0, 0) = std::numeric_limits<double>::infinity();
  refuses(bad, o);
  refuses(good.topRows(1), o);
  o.times = RowMatrix::Zero(5, 1);
  refuses(good, o);
  o = {};
  o.views = {{"a", {0, 1}}, {"b", {1}}};
  refuses(good, o);
  o.views = {{"a", {0, 7}}};
  refuses(good, o);
  // More dimensions and inducing inputs than rows or columns, missing outputs, a constant column:
  // all work.
  o = {};
  o.latent = 8;
  o.training.max_iterations = 5;
  o.held_iterations = 2;
  RowMatrix odd = good;
  odd(1, 1) = nan;
  odd.col(2).setConstant(3.0);
  const GplvmFit fit = Gplvm(odd, o).fit();
  EXPECT_TRUE(std::isfinite(fit.value));
  EXPECT_EQ(fit.mappings[0].posterior.inducing().features->size(), 6);
  EXPECT_THROW(fit.forecast(RowMatrix::Zero(1, 1)), InputError);
  EXPECT_THROW(fit.infer(RowMatrix::Zero(1, 2)), InputError);
}

// What the caller fixed holds from every start; a kernel without closed expectations is told of.
TEST(Gplvm, SettingsHoldFromEveryStart) {
  GplvmOptions o;
  o.latent = 2;
  o.kernel = "matern32(ard)";
  o.training.starts = 3;
  o.training.max_iterations = 3;
  o.held_iterations = 1;
  for (Index first = 0; first < 2; ++first) {
    o.first_start = first;
    Gplvm model(Random(1).normal_matrix(8, 3), o);
    model.parameters().set("likelihood.variance", 0.37);
    model.parameters().fix("likelihood.variance");
    const GplvmFit fit = model.fit();
    EXPECT_EQ(fit.parameters.at("likelihood.variance").value(0), 0.37);
    EXPECT_EQ(fit.summary.starts.size(), 3u);
    EXPECT_NE(fit.summary.warnings.front().find("no closed form"), std::string::npos);
  }
}

// Two views of a signal that both have, weakly, beside a louder one of each.
TEST(Gplvm, AStartOfSeveralViewsIsWhatTheyShare) {
  const Index N = 60;
  const Vector t = Vector::LinSpaced(N, 0.0, 6.0);
  const Vector shared = t.array().sin();
  Random random(4);
  RowMatrix both(N, 12);
  for (Index p = 0; p < 12; ++p) {
    const Vector own = p < 6 ? Vector((2.3 * t.array()).cos()) : Vector((3.1 * t.array()).cos());
    both.col(p) =
        random.normal() * shared + 3.0 * random.normal() * own + 0.05 * random.normal_vector(N);
  }
  GplvmOptions o;
  o.latent = 4;
  o.views = {{"a", {0, 1, 2, 3, 4, 5}}, {"b", {6, 7, 8, 9, 10, 11}}};
  o.training.starts = 1;
  o.first_start = 1;
  o.held_iterations = 0;
  o.training.max_iterations = 0;
  const RowMatrix X = Gplvm(both, o).fit().mean;
  const Vector centred = shared.array() - shared.mean();
  EXPECT_GT(std::abs(dot(X.col(0), centred)) / (X.col(0).norm() * centred.norm()), 0.99);
  EXPECT_LT((X.colwise().squaredNorm() / static_cast<double>(N)).maxCoeff(), 1.0 + 1e-8);
  // The rest has no part of it.
  for (Index q = 1; q < 4; ++q) EXPECT_LT(std::abs(dot(X.col(q), X.col(0))), 1e-6);
  // From means that are given, further starts are shaken whatever the views.
  o.start_mean = X;
  EXPECT_GT((Gplvm(both, o).fit().mean - X).norm(), 1.0);
}

// All dimensions from one view: its components explain that view as well as anything linear does.
TEST(Gplvm, StartsFromTheComponentsOfOneView) {
  const RowMatrix both = Random(7).normal_matrix(40, 9);
  GplvmOptions o;
  o.latent = 3;
  o.views = {{"a", {0, 1, 2}}, {"b", {3, 4, 5, 6, 7, 8}}};
  o.start_view = "a";
  o.training.starts = 1;
  o.held_iterations = 0;
  o.training.max_iterations = 0;
  const auto unexplained = [&](const std::string& view, Index first, Index count) {
    o.start_view = view;
    Matrix X = Gplvm(both, o).fit().mean;
    X.rowwise() -= X.colwise().mean();
    Matrix left = both.middleCols(first, count);
    left.rowwise() -= left.colwise().mean();
    const double all = left.squaredNorm();
    const Matrix gram = product(X, X, Op::transpose);
    left -= product(X, cholesky(gram, "X'X").solve(product(X, left, Op::transpose)));
    return left.squaredNorm() / all;
  };
  EXPECT_LT(unexplained("a", 0, 3), 1e-20);
  EXPECT_GT(unexplained("b", 0, 3), 0.5);
  o.start_view = "c";
  EXPECT_THROW(Gplvm(both, o), InputError);
}

TEST(NeighbourErrors, CountsRowsWhoseNeighbourDiffers) {
  const RowMatrix X = rows_of(4, 1, {0.0, 0.1, 5.0, 5.2});
  EXPECT_EQ(neighbour_errors(X, {0, 0, 1, 1}), 0);
  EXPECT_EQ(neighbour_errors(X, {0, 1, 1, 1}), 2);
  EXPECT_THROW(neighbour_errors(X, {0, 1}), InputError);
}

}  // namespace
}  // namespace covary
