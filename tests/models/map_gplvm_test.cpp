#include "covary/models/map_gplvm.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numbers>

#include "covary/error.hpp"
#include "covary/models/ppca.hpp"
#include "covary/random/random.hpp"
#include "support/gradient_check.hpp"

namespace covary {
namespace {

constexpr double nan_ = std::numeric_limits<double>::quiet_NaN();

// Rows on a curve in four columns.
RowMatrix curve(Index n, double noise, std::uint64_t seed = 1) {
  const Vector t = Vector::LinSpaced(n, -1.5, 1.5);
  RowMatrix out(n, 4);
  out << t, (2.0 * t.array()).sin().matrix(), t.array().square().matrix(),
      (2.0 * t.array()).tanh().matrix();
  return out + noise * Random(seed).normal_matrix(n, 4);
}

Vector flat(const RowMatrix& m) { return Eigen::Map<const Vector>(m.data(), m.size()); }

void check_gradient(const RowMatrix& Y, const MapGplvmOptions& options) {
  MapGplvm model(Y, options);
  const Vector u = model.parameters().flatten();
  Jitter jitter;
  Vector gradient(u.size());
  model.objective(u, &gradient, jitter);
  expect_gradient([&](const Vector& v) { return *model.objective(v, nullptr, jitter); }, gradient,
                  u);
}

MapGplvmOptions small() {
  MapGplvmOptions o;
  o.latent = 2;
  o.snr = 5.0;  // where the objective is gentle enough for differences
  return o;
}

TEST(MapGplvm, GradientMatchesDifferences) {
  RowMatrix Y = Random(2).normal_matrix(8, 3);
  for (const char* kernel : {"se(ard)", "matern52 + linear(ard)", "rq"}) {
    SCOPED_TRACE(kernel);
    MapGplvmOptions o = small();
    o.kernel = kernel;
    check_gradient(Y, o);
    o.prior = false;
    check_gradient(Y, o);
  }
  MapGplvmOptions o = small();
  o.times = Vector::LinSpaced(8, 0.0, 2.0);
  o.sequences = {0, 5};
  check_gradient(Y, o);
  o.back_constraint = RecognitionOptions{};
  check_gradient(Y, o);
  o.times.resize(0, 0);
  o.back_constraint->form = "network";
  o.back_constraint->hidden = 3;
  check_gradient(Y, o);
  o = small();
  o.labels = {0, 1, 0, -1, 1, 1, 0, 0};
  o.discriminative = 3.0;
  check_gradient(Y, o);
  o = small();
  o.views = {{"a", {2, 0}}, {"b", {1}}};
  Y(3, 2) = Y(5, 0) = Y(6, 1) = nan_;
  check_gradient(Y, o);
}

// Section 1.7: with a linear kernel and no prior the optimum is that of dual principal components.
TEST(MapGplvm, LinearKernelComesToTheDualOfPrincipalComponents) {
  RowMatrix Y = curve(20, 0.3);
  Y.rowwise() -= Y.colwise().mean().eval();
  const DualPpca dual = fit_dual_ppca(Y, 2);
  MapGplvmOptions o;
  o.kernel = "linear";
  o.prior = false;
  o.scale_outputs = ScaleMode::none;
  MapGplvm model(Y, o);
  const Parameters start = model.parameters();
  model.parameters().set("latent.X", flat(dual.X));
  model.parameters().set("likelihood.variance", dual.noise_variance);
  EXPECT_NEAR(model.log_likelihood(), dual.log_likelihood, 1e-8 * std::abs(dual.log_likelihood));
  const Vector u = model.parameters().flatten();
  Vector gradient(u.size());
  Jitter jitter;
  model.objective(u, &gradient, jitter);
  EXPECT_LT(gradient.cwiseAbs().maxCoeff(), 1e-8);
  // And training finds it, up to a rotation.
  model.parameters() = start;
  const MapGplvmFit fit = model.fit();
  EXPECT_NEAR(fit.value, dual.log_likelihood, 1e-5);
  EXPECT_NEAR(fit.mappings.front().posterior.parts().noise_variance / dual.noise_variance, 1.0,
              1e-3);
  const Matrix ours = fit.X.lazyProduct(fit.X.transpose()),
               theirs = dual.X.lazyProduct(dual.X.transpose());
  EXPECT_LT((ours - theirs).norm(), 1e-2 * theirs.norm());
}

TEST(MapGplvm, ValueIsThatOfRegressionOnTheInputs) {
  const RowMatrix Y = curve(15, 0.1);
  MapGplvmOptions o;
  o.training.max_iterations = 30;
  MapGplvm model(Y, o);
  const double before = model.log_likelihood();
  const MapGplvmFit fit = model.fit();
  EXPECT_GT(fit.value, before);
  EXPECT_NEAR(fit.value, model.log_likelihood(), 1e-8 * std::abs(fit.value));
  EXPECT_EQ(fit.X, model.inputs());
  EXPECT_NEAR(fit.log_prior, -0.5 * (fit.X.squaredNorm() + 30.0 * std::log(2.0 * std::numbers::pi)),
              1e-10);
  EXPECT_NEAR(fit.summary.value, fit.value + fit.log_prior, 1e-10);
  // The same by regression with its parameters held, in the units of the data.
  RegressionOptions r;
  r.kernel = "se";
  r.scale_inputs = ScaleMode::none;
  r.scale_outputs = ScaleMode::global;
  Regression regression(fit.X, Y, r);
  regression.parameters().set("kernel.variance", fit.parameters.at("kernel.variance").value);
  regression.parameters().set("kernel.lengthscales", 1.0);
  regression.parameters().set("likelihood.variance",
                              fit.parameters.at("likelihood.variance").value);
  EXPECT_NEAR(regression.log_marginal_likelihood(), fit.value, 1e-8);
}

// Behaviour B3: nothing switches a dimension off, and the likelihood goes on rising.
TEST(MapGplvm, LikelihoodRisesWithTheDimensions) {
  const RowMatrix Y = curve(25, 0.05);
  double last = -std::numeric_limits<double>::infinity();
  for (const Index Q : {1, 2, 3}) {
    MapGplvmOptions o;
    o.latent = Q;
    o.training.max_iterations = 300;
    const MapGplvmFit fit = MapGplvm(Y, o).fit();
    EXPECT_GT(fit.value, last) << Q;
    EXPECT_GT(fit.spread().minCoeff(), 0.03) << Q;
    last = fit.value;
  }
}

TEST(MapGplvm, RowsArePlacedAtTheMaximum) {
  RowMatrix Y = curve(30, 0.05);
  Y(4, 1) = Y(11, 2) = nan_;
  MapGplvmOptions o;
  o.views = {{"a", {1, 3}}, {"b", {0, 2}}};
  o.training.max_iterations = 150;
  const MapGplvmFit fit = MapGplvm(Y, o).fit();
  RowMatrix rows = curve(30, 0.05, 7).middleRows(10, 4);
  rows(1, 0) = rows(2, 1) = rows(2, 3) = nan_;
  rows.row(3).setConstant(nan_);
  const MapGplvmFit::Placed placed = fit.place(rows);
  // log p(y | x) of the observed cells, from what decode() says of them.
  const auto density = [&](const RowMatrix& x, Index i) {
    const Prediction p = fit.decode(x);
    double value = 0.0;
    for (Index k = 0; k < 4; ++k)
      if (!std::isnan(rows(i, k)))
        value -= 0.5 * (std::pow(rows(i, k) - p.mean(0, k), 2) / p.variance_y(0, k) +
                        std::log(2.0 * std::numbers::pi * p.variance_y(0, k)));
    return value;
  };
  for (Index i = 0; i < 3; ++i) {
    const RowMatrix x = placed.X.row(i);
    EXPECT_NEAR(placed.log_likelihood(i), density(x, i), 1e-7);
    const auto objective = [&](const Vector& at) {
      return density(RowMatrix(at.transpose()), i) - 0.5 * at.squaredNorm();
    };
    const Vector slope = finite_difference_gradient(objective, x.transpose());
    EXPECT_LT(slope.cwiseAbs().maxCoeff(), 1e-2) << "row " << i;
  }
  EXPECT_EQ(placed.X.row(3), RowMatrix::Zero(1, 2));
  EXPECT_EQ(placed.log_likelihood(3), 0.0);
  // Cells that were hidden come back.
  const RowMatrix truth = curve(30, 0.0).middleRows(10, 4), decoded = fit.decode(placed.X).mean;
  EXPECT_NEAR(decoded(1, 0), truth(1, 0), 0.3);
  EXPECT_NEAR(decoded(0, 2), truth(0, 2), 0.3);
  EXPECT_EQ(fit.sample(placed.X, 3, 1).size(), 3u);
}

TEST(MapGplvm, BackConstraintPlacesItsOwnRowsWhereTheyAre) {
  const RowMatrix Y = curve(25, 0.05);
  for (const char* form : {"kernel", "network"}) {
    SCOPED_TRACE(form);
    MapGplvmOptions o;
    o.back_constraint = RecognitionOptions{.form = form};
    o.training.max_iterations = 100;
    MapGplvm model(Y, o);
    const double before = model.log_likelihood();
    const MapGplvmFit fit = model.fit();
    EXPECT_GT(fit.value, before + 10.0);
    EXPECT_LT((fit.place(Y).X - fit.X).cwiseAbs().maxCoeff(), 1e-8);
    // Rows that are alike lie near each other.
    const RowMatrix near = Y.array() + 1e-4;
    EXPECT_LT((fit.place(near).X - fit.X).cwiseAbs().maxCoeff(), 0.05);
    RowMatrix some = Y.topRows(1);
    some(0, 2) = nan_;
    EXPECT_LT((fit.decode(fit.place(some).X).mean.row(0) - Y.row(0)).cwiseAbs().maxCoeff(), 0.5);
  }
}

TEST(MapGplvm, DynamicsSmoothAndForecast) {
  const RowMatrix Y = curve(40, 0.02);
  MapGplvmOptions o;
  o.latent = 1;
  o.times = Vector::LinSpaced(40, 0.0, 3.9);
  o.sequences = {0, 20};
  o.training.max_iterations = 200;
  MapGplvm model(Y, o);
  const MapGplvmFit fit = model.fit();
  const LatentMarginals again = fit.forecast(o.times.middleRows(25, 1), 1);
  EXPECT_NEAR(again.mean(0, 0), fit.X(25, 0), 0.05);
  EXPECT_LT(again.variance(0, 0), 0.01);
  const LatentMarginals next = fit.forecast(RowMatrix::Constant(1, 1, 4.0), 1);
  EXPECT_LT((fit.decode(next.mean).mean.row(0) - Y.row(39)).cwiseAbs().maxCoeff(), 0.4);
  const LatentMarginals fresh = fit.forecast(RowMatrix::Constant(1, 1, 4.0), -1);
  EXPECT_EQ(fresh.mean(0, 0), 0.0);
  EXPECT_NEAR(fresh.variance(0, 0), 1.001, 1e-12);
  EXPECT_THROW(fit.forecast(o.times, 2), InputError);
  EXPECT_THROW(fit.forecast(RowMatrix::Zero(1, 2)), InputError);
}

// Two classes that the outputs hardly tell apart.
TEST(MapGplvm, DiscriminativePriorPullsClassesApart) {
  RowMatrix Y = Random(3).normal_matrix(30, 5);
  std::vector<Index> labels;
  for (Index i = 0; i < 30; ++i) {
    labels.push_back(i % 2);
    Y(i, 4) += i % 2 ? 0.7 : -0.7;
  }
  std::vector<Index> errors;
  for (const double strength : {0.0, 1000.0}) {
    MapGplvmOptions o;
    o.labels = labels;
    o.discriminative = strength;
    o.training.max_iterations = 200;
    errors.push_back(neighbour_errors(MapGplvm(Y, o).fit().X, labels));
  }
  EXPECT_GT(errors[0], 5);
  EXPECT_LT(errors[1], 2);
}

TEST(MapGplvm, FurtherStartsKeepTheBestAndWhatWasFixed) {
  const RowMatrix Y = curve(20, 0.1);
  MapGplvmOptions o;
  o.training.max_iterations = 40;
  const double one = MapGplvm(Y, o).fit().summary.value;
  o.training.starts = 3;
  MapGplvm model(Y, o);
  model.parameters().set("likelihood.variance", 0.02);
  model.parameters().fix("likelihood.variance");
  const MapGplvmFit held = model.fit();
  EXPECT_EQ(held.parameters.at("likelihood.variance").value(0), 0.02);
  EXPECT_EQ(held.summary.starts.size(), 3u);
  EXPECT_GE(MapGplvm(Y, o).fit().summary.value, one);
}

TEST(MapGplvm, BadInput) {
  const RowMatrix Y = curve(10, 0.1);
  const auto told = [&](const RowMatrix& table, const auto& change) -> std::string {
    MapGplvmOptions o;
    change(o);
    try {
      MapGplvm(table, o);
    } catch (const InputError& e) {
      return e.what();
    }
    return "nothing was refused";
  };
  const auto expect = [&](const std::string& words, const RowMatrix& table, const auto& change) {
    EXPECT_NE(told(table, change).find(words), std::string::npos) << told(table, change);
  };
  using O = MapGplvmOptions;
  expect("at least one dimension", Y, [](O& o) { o.latent = 0; });
  expect("must not be negative", Y, [](O& o) { o.training.starts = -1; });
  expect("snr", Y, [](O& o) { o.snr = 1.0; });
  expect("times for 10 rows", Y, [](O& o) { o.times = Vector::LinSpaced(3, 0.0, 1.0); });
  expect("a label for each", Y, [](O& o) { o.discriminative = 1.0; });
  expect("two classes", Y, [](O& o) {
    o.discriminative = 1.0;
    o.labels.assign(10, 0);
  });
  expect("do not fill", Y, [](O& o) {
    o.discriminative = 1.0;
    o.labels = {0, 1, 1, -1, -1, -1, -1, -1, -1, -1};
  });
  expect("kernel or network", Y,
         [](O& o) { o.back_constraint = RecognitionOptions{.form = "forest"}; });
  expect("start is 2×2", Y, [](O& o) { o.start = RowMatrix::Zero(2, 2); });
  expect("in no view", Y, [](O& o) { o.views = {{"a", {0, 1}}}; });
  RowMatrix bad = Y;
  bad(2, 1) = nan_;
  expect("complete rows", bad, [](O& o) { o.back_constraint = RecognitionOptions{}; });
  bad.col(1).setConstant(nan_);
  expect("column 1 has no observed value", bad, [](O&) {});
  bad = Y;
  bad.row(3).setConstant(nan_);
  expect("row 3 has no observed output", bad, [](O&) {});
  bad(3, 0) = std::numeric_limits<double>::infinity();
  expect("infinite", bad, [](O&) {});
  const MapGplvmFit fit = [&] {
    MapGplvmOptions o;
    o.training.max_iterations = 0;
    return MapGplvm(Y, o).fit();
  }();
  EXPECT_THROW(fit.forecast(RowMatrix::Zero(1, 1)), InputError);
  EXPECT_THROW(fit.place(RowMatrix::Zero(1, 3)), InputError);
  EXPECT_THROW(fit.decode(RowMatrix::Zero(1, 3)), InputError);
}

}  // namespace
}  // namespace covary
