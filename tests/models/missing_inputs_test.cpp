#include "covary/models/missing_inputs.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numbers>

#include "covary/data/split.hpp"
#include "covary/error.hpp"
#include "covary/models/sparse_regression.hpp"
#include "covary/random/random.hpp"

namespace covary {
namespace {

constexpr double nan = std::numeric_limits<double>::quiet_NaN();

// Three outputs that tell where a row lies; of 45 rows the last 30 have holes.
struct Data {
  RowMatrix X = RowMatrix(45, 2), Y = RowMatrix(45, 3), holed;
  Data() {
    Random random(11);
    for (Index i = 0; i < 45; ++i) {
      X.row(i) << 5.0 + 2.0 * random.normal(), 0.3 * random.normal();
      const double a = (X(i, 0) - 5.0) / 2.0, b = X(i, 1) / 0.3;
      Y.row(i) << std::sin(a) + 0.3 * b, a + std::tanh(b), 10.0 * std::cos(0.7 * a + b);
      for (Index p = 0; p < 3; ++p) Y(i, p) += (p == 2 ? 0.2 : 0.02) * random.normal();
    }
    holed = X;
    for (Index i = 15; i < 45; ++i) holed(i, i % 2) = nan;
  }
};

MissingInputsOptions quick() {
  MissingInputsOptions o;
  o.inducing = 20;
  o.held_iterations = 40;
  o.training.max_iterations = 150;
  return o;
}

double error(const RegressionFit& fit) {
  Random random(12);
  RowMatrix X(200, 2), Y(200, 3);
  for (Index i = 0; i < 200; ++i) {
    X.row(i) << 5.0 + 2.0 * random.normal(), 0.3 * random.normal();
    const double a = (X(i, 0) - 5.0) / 2.0, b = X(i, 1) / 0.3;
    Y.row(i) << std::sin(a) + 0.3 * b, a + std::tanh(b), std::cos(0.7 * a + b);
  }
  RowMatrix mean = fit.predict_mean(X);
  mean.col(2) /= 10.0;
  return std::sqrt((mean - Y).squaredNorm() / static_cast<double>(Y.size()));
}

TEST(MissingInputs, RowsWithHolesHelp) {
  const Data d;
  const MissingInputsFit fit = MissingInputsRegression(d.holed, d.Y, quick()).fit();
  EXPECT_EQ(fit.regression.posterior.name(), "vfe");
  SparseRegressionOptions o;
  o.inducing = 15;
  const RegressionFit complete = SparseRegression(d.X.topRows(15), d.Y.topRows(15), o).fit();
  EXPECT_LT(error(fit.regression), 0.8 * error(complete));
  // What was given is kept, what was not is found, in the units of the data.
  double known = 0.0, away = 0.0, guess = 0.0;
  Index inside = 0;
  for (Index i = 15; i < 45; ++i) {
    const Index gap = i % 2, other = 1 - gap;
    known = std::max(known, std::abs(fit.mean(i, other) - d.X(i, other)));
    EXPECT_EQ(fit.variance(i, other), 0.0);
    EXPECT_GT(fit.variance(i, gap), 0.0);
    const double scale = gap == 0 ? 2.0 : 0.3, middle = gap == 0 ? 5.0 : 0.0;
    away += std::abs(fit.mean(i, gap) - d.X(i, gap)) / scale;
    guess += std::abs(middle - d.X(i, gap)) / scale;
    inside += std::abs(fit.mean(i, gap) - d.X(i, gap)) < 4.0 * std::sqrt(fit.variance(i, gap));
  }
  EXPECT_LT(known, 1e-9);
  EXPECT_LT(away, 0.4 * guess);
  EXPECT_GE(inside, 20);
  EXPECT_LT((fit.mean.topRows(15) - d.X.topRows(15)).cwiseAbs().maxCoeff(), 1e-12);
}

// Eight inputs along a curve, four outputs that bend in them; of 60 rows the last 35 miss six
// inputs in ten. The bound would rather take all rows for noise.
TEST(MissingInputs, RowsThatMissMuchStillHelp) {
  const Vector t = Vector::LinSpaced(100, 0.0, 6.0 * std::numbers::pi);
  const Vector over_time = (Vector(2) << 1.0, std::sqrt(5.0)).finished(),
               over_inputs = (Vector(2) << 1.0, std::sqrt(2.0)).finished();
  Random random(7);
  const RowMatrix X =
      take_rows(RowMatrix(sample_prior("se", over_time, t, 8, 1)), random.permutation(100));
  RowMatrix Y = sample_prior("se", over_inputs, X, 4, 2);
  Y += 0.03 * random.normal_matrix(100, 4);
  RowMatrix holed = X.topRows(60);
  for (Index i = 25; i < 60; ++i)
    for (Index c = 0; c < 8; ++c)
      if (random.uniform() < 0.6) holed(i, c) = nan;
  MissingInputsOptions o = quick();
  o.kernel = "se";
  o.scale_inputs = o.scale_outputs = ScaleMode::none;
  const RegressionFit fit = MissingInputsRegression(holed, Y.topRows(60), o).fit().regression;
  SparseRegressionOptions r;
  r.kernel = o.kernel;
  r.inducing = o.inducing;
  r.training = o.training;
  r.scale_inputs = r.scale_outputs = ScaleMode::none;
  const RegressionFit complete = SparseRegression(X.topRows(25), Y.topRows(25), r).fit();
  EXPECT_EQ(fit.posterior.noise_variance(), complete.posterior.noise_variance());
  const auto away = [&](const RegressionFit& of) {
    return (of.predict_mean(X.bottomRows(40)) - Y.bottomRows(40)).squaredNorm();
  };
  EXPECT_LT(away(fit), 0.7 * away(complete));
}

// E33: nothing missing is sparse regression.
TEST(MissingInputs, E33NothingMissingIsSparseRegression) {
  const Data d;
  MissingInputsOptions o = quick();
  o.training.max_iterations = 400;
  const MissingInputsFit fit = MissingInputsRegression(d.X, d.Y, o).fit();
  SparseRegressionOptions r;
  r.Z = fit.regression.input_scaling.undo(RowMatrix(
      Eigen::Map<const RowMatrix>(fit.regression.parameters.at("features.Z").value.data(), 20, 2)));
  r.training.max_iterations = 0;
  r.jitter = fit.regression.posterior.jitter();  // what Gaussian rows needed
  SparseRegression same(d.X, d.Y, r);
  for (const char* path : {"kernel.variance", "kernel.lengthscales", "likelihood.variance"})
    same.parameters().set(path, fit.regression.parameters.at(path).value);
  EXPECT_NEAR(fit.regression.value, same.evaluate().value, 1e-4);
  EXPECT_LT((fit.regression.predict_mean(d.X) - same.fit().predict_mean(d.X)).cwiseAbs().maxCoeff(),
            1e-4);
  EXPECT_EQ(fit.variance.maxCoeff(), 0.0);
}

TEST(MissingInputs, AllMissingIsALatentVariableModel) {
  const Data d;
  const MissingInputsFit fit =
      MissingInputsRegression(RowMatrix::Constant(45, 2, nan), d.Y, quick()).fit();
  EXPECT_GT(fit.variance.minCoeff(), 0.0);
  EXPECT_TRUE(fit.mean.allFinite());
}

TEST(MissingInputs, BadInputIsRefused) {
  Data d;
  EXPECT_THROW(MissingInputsRegression(d.holed.topRows(3), d.Y, quick()).fit(), InputError);
  d.Y.row(20).setConstant(nan);
  EXPECT_THROW(MissingInputsRegression(d.holed, d.Y, quick()).fit(), InputError);
  d.holed(3, 0) = std::numeric_limits<double>::infinity();
  EXPECT_THROW(MissingInputsRegression(d.holed, d.X, quick()).fit(), InputError);
}

}  // namespace
}  // namespace covary
