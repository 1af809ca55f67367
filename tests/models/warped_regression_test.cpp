#include "covary/models/warped_regression.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numbers>

#include "covary/error.hpp"
#include "covary/models/sparse_regression.hpp"
#include "covary/random/random.hpp"

namespace covary {
namespace {

constexpr double sd = 0.05;

// g steep at zero, h smooth: y = g(h(x)) steps where h changes its sign.
double step(ConstVector x) {
  const double h = x.size() == 1 ? std::sin(2.5 * x(0)) : std::sin(1.5 * x(0)) + 0.7 * x(1);
  return std::tanh(8.0 * h);
}

struct Data {
  RowMatrix X, Y, at, f;
  Data(std::uint64_t seed, Index N, Index D) {
    Random random(seed, 5);
    const auto draw = [&](Index n) {
      RowMatrix out(n, D);
      for (double& v : out.reshaped()) v = 4.0 * random.uniform() - 2.0;
      return out;
    };
    const auto values = [&](const RowMatrix& rows) {
      RowMatrix out(rows.rows(), 1);
      for (Index i = 0; i < rows.rows(); ++i) out(i, 0) = step(rows.row(i).transpose());
      return out;
    };
    X = draw(N);
    Y = values(X) + sd * random.normal_matrix(N, 1);
    at = draw(200);
    f = values(at);
  }
  double error(const RowMatrix& mean) const {
    return std::sqrt((mean - f).squaredNorm() / static_cast<double>(f.size()));
  }
  // Of y at those inputs, on average over its noise.
  double nlpd(const Prediction& p) const {
    const auto e = (p.mean - f).array().square() + sd * sd;
    const auto v = p.variance_y.array();
    return (0.5 * (2.0 * std::numbers::pi * v).log() + 0.5 * e / v).mean();
  }
};

WarpedRegressionOptions quick() {
  WarpedRegressionOptions o;
  o.inducing = 20;
  o.training.max_iterations = 200;
  return o;
}

TEST(WarpedRegression, StepsAreFittedBetterThanByPlainRegression) {
  for (const Index D : {1, 2})
    for (std::uint64_t seed = 0; seed < 2; ++seed) {
      SCOPED_TRACE(fmt::format("{} columns, seed {}", D, seed));
      const Data d(seed, D == 1 ? 80 : 120, D);
      const RegressionFit plain = SparseRegression(d.X, d.Y, {.inducing = 60}).fit();
      const WarpedRegressionFit warped = WarpedRegression(d.X, d.Y, quick()).fit();
      const Prediction p = warped.predict(d.at);
      EXPECT_GT(warped.layers.summary.value, plain.summary.value + 30.0);
      EXPECT_LT(d.error(p.mean), 0.6 * d.error(plain.predict_mean(d.at)));
      EXPECT_LT(d.nlpd(p), d.nlpd(plain.predict(d.at)) - 0.5);
      EXPECT_EQ(warped.layers.latent(), 1);
      for (const auto& w : warped.layers.summary.warnings) ADD_FAILURE() << w;
    }
}

// At the rows h is q(X), and away from them the prior.
TEST(WarpedRegression, InnerLayer) {
  const Data d(1, 60, 2);
  const WarpedRegressionFit fit = WarpedRegression(d.X, d.Y, quick()).fit();
  const LatentMarginals h = fit.inner(d.X);
  // But for the nugget of the inner kernel, 0.001, which each row has to itself.
  EXPECT_LT((h.mean - fit.layers.mean).cwiseAbs().maxCoeff(), 0.2);
  EXPECT_LT((h.mean - fit.layers.mean).squaredNorm(), 0.01 * fit.layers.mean.squaredNorm());
  const LatentMarginals far = fit.inner(RowMatrix::Constant(3, 2, 1e4));
  EXPECT_LT(far.mean.cwiseAbs().maxCoeff(), 1e-12);
  EXPECT_LT((far.variance.array() - 1.001).abs().maxCoeff(), 1e-12);
  EXPECT_TRUE(fit.predict(RowMatrix::Constant(3, 2, 1e4)).variance_y.allFinite());
}

// Where nothing steps, the warp says that it is of no use, or does no harm.
TEST(WarpedRegression, SmoothFunctionsAreNoWorse) {
  Data d(2, 60, 1);
  for (Index i = 0; i < 60; ++i) d.Y(i, 0) = std::sin(d.X(i, 0)) + sd * Random(9, 1 + i).normal();
  for (Index i = 0; i < 200; ++i) d.f(i, 0) = std::sin(d.at(i, 0));
  const WarpedRegressionFit fit = WarpedRegression(d.X, d.Y, quick()).fit();
  const RegressionFit plain = SparseRegression(d.X, d.Y, {.inducing = 20}).fit();
  EXPECT_LT(d.error(fit.predict(d.at).mean), 1.5 * d.error(plain.predict_mean(d.at)));
  bool said = false;
  for (const auto& w : fit.layers.summary.warnings)
    said = said || w.find("the warp gains nothing") != std::string::npos;
  EXPECT_EQ(said, !(fit.layers.summary.value > plain.summary.value));
}

// Columns in units of their own, more dimensions than outputs, several outputs with holes.
TEST(WarpedRegression, UnitsAndOutputs) {
  const Data d(3, 120, 2);
  RowMatrix X = d.X, Y(120, 2);
  X.col(1) = (1000.0 * X.col(1)).array() + 5e4;
  Y << d.Y, (50.0 * d.Y).array() + 7.0;
  Y(4, 0) = Y(17, 1) = std::numeric_limits<double>::quiet_NaN();
  RowMatrix at = d.at;
  at.col(1) = (1000.0 * at.col(1)).array() + 5e4;
  const double plain =
      d.error(SparseRegression(X, Y, {.inducing = 60}).fit().predict_mean(at).col(0));
  for (const Index latent : {1, 3}) {
    WarpedRegressionOptions o = quick();
    o.latent = latent;
    const Prediction p = WarpedRegression(X, Y, o).fit().predict(at);
    EXPECT_LT(d.error(p.mean.col(0)), 0.7 * plain) << latent;
    EXPECT_LT(d.error((p.mean.col(1).array() - 7.0) / 50.0), 0.7 * plain) << latent;
  }
}

// Repeated inputs are nothing to warn of, nor is their order.
TEST(WarpedRegression, RepeatedInputs) {
  Data d(6, 60, 1);
  for (Index i = 0; i < 60; ++i) {
    d.X(i, 0) = 0.25 * std::round(4.0 * d.X(i, 0));
    d.Y(i, 0) =
        step(d.X.row(i).transpose()) + sd * Random(4, static_cast<std::uint64_t>(i)).normal();
  }
  const WarpedRegressionFit fit = WarpedRegression(d.X, d.Y, quick()).fit();
  for (const auto& w : fit.layers.summary.warnings) ADD_FAILURE() << w;
  EXPECT_LT((fit.predict(d.X).mean - d.Y).norm() / std::sqrt(60.0), 2.0 * sd);
}

TEST(WarpedRegression, GoesOnWithTheSameBits) {
  const Data d(4, 40, 2);
  WarpedRegressionOptions o = quick();
  o.inducing = 10;
  o.held_iterations = 8;
  o.training.max_iterations = 10;
  std::vector<TrainingState> states;
  o.training.after_iteration = [&](const TrainingProgress& p) { states.push_back(p.state()); };
  const WarpedRegressionFit whole = WarpedRegression(d.X, d.Y, o).fit();
  o.training.after_iteration = nullptr;
  ASSERT_GT(states.size(), 20u);
  for (std::size_t i = 0; i < states.size(); i += 7) {
    WarpedRegression model(d.X, d.Y, o);
    model.resume(states[i]);
    const WarpedRegressionFit fit = model.fit();
    EXPECT_EQ(fit.layers.parameters.values(), whole.layers.parameters.values()) << i;
    EXPECT_EQ(fit.predict(d.at).mean, whole.predict(d.at).mean) << i;
  }
}

TEST(WarpedRegression, BadInputIsRefused) {
  Data d(5, 30, 2);
  EXPECT_THROW(WarpedRegression(d.X.topRows(9), d.Y), InputError);
  WarpedRegressionOptions o = quick();
  o.latent = 0;
  EXPECT_THROW(WarpedRegression(d.X, d.Y, o), InputError);
  o = quick();
  o.inducing = -1;
  EXPECT_THROW(WarpedRegression(d.X, d.Y, o), InputError);
  const WarpedRegressionFit fit = [&] {
    WarpedRegressionOptions few = quick();
    few.training.max_iterations = 2;
    return WarpedRegression(d.X, d.Y, few).fit();
  }();
  EXPECT_THROW(fit.predict(d.at.leftCols(1)), InputError);
  d.X(7, 1) = std::numeric_limits<double>::infinity();
  EXPECT_THROW(WarpedRegression(d.X, d.Y), InputError);
}

}  // namespace
}  // namespace covary
