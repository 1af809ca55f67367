#include "covary/models/autoregression.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <utility>

#include "covary/error.hpp"
#include "covary/models/sparse_regression.hpp"
#include "covary/random/random.hpp"

namespace covary {
namespace {

constexpr double nan = std::numeric_limits<double>::quiet_NaN();

RowMatrix wave(Index n) {
  RowMatrix out(n, 2);
  Random random(5);
  for (Index i = 0; i < n; ++i) {
    const double t = 0.3 * static_cast<double>(i);
    out.row(i) << 10.0 + std::sin(t) + 0.02 * random.normal(),
        100.0 * std::cos(t) + 2.0 * random.normal();
  }
  return out;
}

RegressionFit fit_of(const LagWindows& w, bool exact, const Kernel& kernel = "se(ard)") {
  if (exact) {
    RegressionOptions o;
    o.kernel = kernel;
    o.training.starts = 1;
    o.training.max_iterations = 60;
    return Regression(w.X, w.Y, o).fit();
  }
  SparseRegressionOptions o;
  o.kernel = kernel;
  o.inducing = 15;
  o.jitter = 1e-5;
  o.training.starts = 1;
  o.training.max_iterations = 60;
  return SparseRegression(w.X, w.Y, o).fit();
}

TEST(Autoregression, WindowsHaveTheOldestLagFirst) {
  RowMatrix s(5, 2);
  s << 0, 10, 1, 11, 2, 12, 3, nan, 4, 14;
  const LagWindows w = lag_windows(s, 2);
  ASSERT_EQ(w.X.rows(), 2);  // the third window has a missing input
  EXPECT_EQ(w.X, (RowMatrix(2, 4) << 0, 10, 1, 11, 1, 11, 2, 12).finished());
  EXPECT_EQ(w.Y.row(0), (RowMatrix(1, 2) << 2, 12).finished());
  EXPECT_EQ(w.Y(1, 0), 3);
  EXPECT_TRUE(std::isnan(w.Y(1, 1)));
  EXPECT_EQ(LagWindows::names({"a", "b"}, 2),
            (std::vector<std::string>{"a[t-2]", "b[t-2]", "a[t-1]", "b[t-1]"}));
}

TEST(Autoregression, LagsAreReadOffTheNames) {
  RegressionFit fit = fit_of(lag_windows(wave(40), 3), true);
  EXPECT_EQ(fit.lags(), 0);
  fit.output_names = {"a", "b"};
  fit.input_columns = InputColumns::named(LagWindows::names(fit.output_names, 3));
  EXPECT_EQ(fit.lags(), 3);
  fit.input_columns.columns[1].name = "c";
  EXPECT_EQ(fit.lags(), 0);
}

TEST(Autoregression, E35TheFirstStepIsOrdinaryRegression) {
  const RowMatrix s = wave(60);
  for (const bool exact : {true, false}) {
    const LagWindows w = lag_windows(s.topRows(59), 4);
    const RegressionFit fit = fit_of(w, exact);
    const RowMatrix window = lag_windows(s, 4).X.bottomRows(1);
    const Prediction one = fit.predict(window);
    for (const Propagation how : {Propagation::plug_in, Propagation::moments}) {
      const Prediction p = simulate(fit, s.topRows(59), 1, how);
      for (Index k = 0; k < 2; ++k) {
        EXPECT_NEAR(p.mean(0, k), one.mean(0, k), 1e-9 * fit.output_scaling.scale(k));
        EXPECT_NEAR(p.variance_y(0, k), one.variance_y(0, k),
                    1e-7 * std::pow(fit.output_scaling.scale(k), 2));
      }
    }
  }
}

// The window of the second step holds the first with its variance.
TEST(Autoregression, UncertaintyIsFedBack) {
  const RowMatrix s = wave(60);
  const RegressionFit fit = fit_of(lag_windows(s, 3), false);
  const Prediction p = simulate(fit, s, 2);
  // The two outputs of the first step are independent: they come from a known window.
  RowMatrix window(1, 6), variance = RowMatrix::Zero(1, 6);
  window << s.row(58), s.row(59), p.mean.row(0);
  variance.rightCols(2) = p.variance_y.row(0);
  const Prediction second = fit.predict(window, variance);
  EXPECT_LT((p.mean.row(1) - second.mean.row(0)).cwiseAbs().maxCoeff(), 1e-9);
  EXPECT_LT((p.variance_y.row(1) - second.variance_y.row(0)).cwiseAbs().maxCoeff(), 1e-7);
  const Prediction plugged = simulate(fit, s, 30, Propagation::plug_in),
                   moments = simulate(fit, s, 30);
  EXPECT_GT(moments.variance_y(29, 0), 1.5 * plugged.variance_y(29, 0));
}

// B10: y_t = a·y_{t−1} + noise with a linear kernel and the weight all but known.
TEST(Autoregression, B10LinearVarianceGrowsAsItShould) {
  const double a = 0.9, noise = 0.01;
  RowMatrix s(400, 1);
  Random random(9);
  s(0) = 3.0;
  for (Index i = 1; i < 400; ++i) s(i) = a * s(i - 1) + std::sqrt(noise) * random.normal();
  s(399) = 2.0;
  RegressionOptions o;
  o.kernel = "linear";
  o.scale_inputs = o.scale_outputs = ScaleMode::none;
  const LagWindows w = lag_windows(s.topRows(399), 1);
  const RegressionFit fit = Regression(w.X, w.Y, o).fit();
  const double trained = fit.predict_mean(RowMatrix::Ones(1, 1))(0),
               own = fit.posterior.noise_variance();
  EXPECT_NEAR(trained, a, 0.1);
  const Prediction p = simulate(fit, s, 20);
  double variance = 0.0;
  for (Index t = 0; t < 20; ++t) {
    variance = trained * trained * variance + own;
    EXPECT_NEAR(p.mean(t, 0), 2.0 * std::pow(trained, static_cast<double>(t + 1)), 1e-6);
    EXPECT_NEAR(p.variance_y(t, 0) / variance, 1.0, 0.15);
  }
}

// y_t = a·y_{t−1} + b·y_{t−2} + noise: neighbouring errors are far from independent. With c_0 = 1,
// c_1 = a, c_k = a·c_{k−1} + b·c_{k−2} the variance k steps ahead is σ²Σc². Independent lags would
// have a variance that grows without end.
TEST(Autoregression, LagsOfAWindowAreCorrelated) {
  const double a = 1.8, b = -0.9, noise = 0.01;
  RowMatrix s(500, 1);
  Random random(4);
  s(0) = s(1) = 0.0;
  for (Index i = 2; i < 500; ++i)
    s(i) = a * s(i - 1) + b * s(i - 2) + std::sqrt(noise) * random.normal();
  RegressionOptions o;
  o.kernel = "linear(ard)";
  o.scale_inputs = o.scale_outputs = ScaleMode::none;
  const LagWindows w = lag_windows(s, 2);
  const RegressionFit fit = Regression(w.X, w.Y, o).fit();
  const RowMatrix slopes = fit.predict_mean(RowMatrix::Identity(2, 2));
  const Prediction p = simulate(fit, s, 40), drawn = simulate(fit, s, 40, Propagation::draws);
  double before = 0.0, now = 1.0, sum = 0.0;
  for (Index t = 0; t < 40; ++t) {
    sum += now * now;
    EXPECT_NEAR(p.variance_y(t, 0) / (fit.posterior.noise_variance() * sum), 1.0, 0.1);
    EXPECT_NEAR(drawn.variance_y(t, 0) / p.variance_y(t, 0), 1.0, 0.5);
    before = std::exchange(now, slopes(1, 0) * now + slopes(0, 0) * before);
  }
  EXPECT_LT((drawn.mean - p.mean).cwiseAbs().maxCoeff(), 0.5 * std::sqrt(p.variance_y(39, 0)));
}

// Without noise the weights are so large that a difference of second moments is all rounding.
TEST(Autoregression, ASeriesWithoutNoiseHasVariancesThatMakeSense) {
  RowMatrix s(80, 1);
  for (Index i = 0; i < 80; ++i) s(i) = std::sin(0.3 * static_cast<double>(i));
  const RegressionFit fit = Regression(lag_windows(s, 4).X, lag_windows(s, 4).Y, {}).fit();
  EXPECT_LT(fit.posterior.noise_variance(), 1e-6);
  const Prediction p = simulate(fit, s, 20);
  for (Index t = 0; t < 20; ++t) {
    EXPECT_LT(std::abs(p.mean(t, 0) - std::sin(0.3 * static_cast<double>(80 + t))), 0.02);
    EXPECT_LT(p.variance_y(t, 0), 1e-3);
  }
}

// The same function at every step: its errors add up, which moments of one step at a time miss.
TEST(Autoregression, DrawsRunEachByItself) {
  const RowMatrix s = wave(60);
  for (const bool exact : {true, false}) {
    const RegressionFit fit = fit_of(lag_windows(s, 3), exact);
    const auto draws = simulate_draws(fit, s, 30, {.draws = 40, .features = 300, .seed = 3});
    ASSERT_EQ(draws.size(), 40u);
    EXPECT_EQ(draws[0], simulate_draws(fit, s, 30, {.draws = 2, .features = 300, .seed = 3})[0]);
    EXPECT_NE(draws[0], draws[1]);
    const Prediction p = simulate(fit, s, 30, Propagation::draws,
                                  {.draws = 40, .features = 300, .seed = 3}),
                     moments = simulate(fit, s, 30);
    RowMatrix mean = RowMatrix::Zero(30, 2);
    for (const RowMatrix& y : draws) mean += y / 40.0;
    EXPECT_LT((p.mean - mean).cwiseAbs().maxCoeff(), 1e-9);
    for (Index k = 0; k < 2; ++k) {
      const double sd = std::sqrt(moments.variance_y(0, k));
      EXPECT_NEAR(p.mean(0, k), moments.mean(0, k), sd);
      EXPECT_NEAR(std::sqrt(p.variance_y(0, k)) / sd, 1.0, 0.4);
      EXPECT_GE(p.variance_f.col(k).minCoeff(), 0.0);
    }
  }
}

TEST(Autoregression, AugmentedRowsLowerTheVariance) {
  const RowMatrix s = wave(60);
  const RegressionFit fit = fit_of(lag_windows(s, 3), false);
  const Prediction moments = simulate(fit, s, 40),
                   augmented = simulate(fit, s, 40, Propagation::augmented);
  EXPECT_NEAR(moments.mean(0, 0), augmented.mean(0, 0), 1e-10);
  EXPECT_LT(augmented.variance_f.bottomRows(10).sum(), moments.variance_f.bottomRows(10).sum());
  EXPECT_THROW(simulate(fit_of(lag_windows(s, 3), true), s, 2, Propagation::augmented),
               Unsupported);
}

TEST(Autoregression, BadInputIsRefused) {
  RowMatrix s = wave(30);
  EXPECT_THROW(lag_windows(s, 0), InputError);
  EXPECT_THROW(lag_windows(s, 30), InputError);
  const RegressionFit fit = fit_of(lag_windows(s, 2), true);
  EXPECT_THROW(simulate(fit, s, 0), InputError);
  EXPECT_THROW(simulate(fit, s.leftCols(1), 3), InputError);
  EXPECT_THROW(simulate(fit, s.topRows(1), 3), InputError);
  s(29, 0) = nan;
  EXPECT_THROW(simulate(fit, s, 3), InputError);
  for (Index i = 0; i < 30; i += 2) s(i, 1) = nan;
  EXPECT_THROW(lag_windows(s, 2), InputError);
  s(3, 0) = std::numeric_limits<double>::infinity();
  EXPECT_THROW(lag_windows(s, 2), InputError);
  EXPECT_THROW(parse_propagation("exact"), InputError);
  EXPECT_THROW(simulate(fit, wave(30), 3, Propagation::draws, {.draws = 1}), InputError);
}

}  // namespace
}  // namespace covary
