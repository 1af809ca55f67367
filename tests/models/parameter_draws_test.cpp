#include "covary/models/parameter_draws.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "covary/data/generators.hpp"
#include "covary/error.hpp"
#include "covary/models/autoregression.hpp"
#include "covary/models/sparse_regression.hpp"
#include "covary/random/random.hpp"

namespace covary {
namespace {

RegressionFit fitted(Index rows, const char* kernel = "se") {
  const auto d = snelson_like_data(rows, 3);
  RegressionOptions o;
  o.kernel = kernel;
  return Regression(d.X, d.y, o).fit();
}

// Mean and variance of log ℓ by quadrature over a grid, the other parameters fixed.
TEST(ParameterDraws, OneParameterAgreesWithQuadrature) {
  const auto d = snelson_like_data(12, 3);
  RegressionOptions o;
  o.kernel = "se";
  Regression model(d.X, d.y, o);
  const double start = model.parameters().at("kernel.lengthscales").value(0);
  model.fit();
  model.parameters().fix("kernel.variance");
  model.parameters().fix("likelihood.variance");
  for (const bool own : {false, true}) {
    if (own) model.parameters().set_prior("kernel.lengthscales", Prior::gamma(4.0, 8.0));
    Vector log_l = Vector::LinSpaced(4001, std::log(start) - 12.0, std::log(start) + 12.0),
           log_p(4001);
    Regression at = model;
    for (Index i = 0; i < log_l.size(); ++i) {
      const double l = std::exp(log_l(i));
      at.parameters().set("kernel.lengthscales", l);
      const double prior = own ? Prior::gamma(4.0, 8.0).log_density(l) + log_l(i)
                               : -0.125 * std::pow(log_l(i) - std::log(start), 2);
      log_p(i) = at.log_marginal_likelihood() + prior;
    }
    const Vector p = (log_p.array() - log_p.maxCoeff()).exp();
    const double mean = p.dot(log_l) / p.sum(),
                 variance = p.dot((log_l.array() - mean).square().matrix()) / p.sum();
    ParameterDrawOptions options;
    options.draws = 4000;
    options.thin = 2;
    const ParameterDraws draws = model.sample_parameters(options);
    const Index column = model.parameters().offset("kernel.lengthscales");
    const Vector drawn = draws.values.col(column).array().log();
    const double own_mean = drawn.mean(), own_variance = (drawn.array() - own_mean).square().mean();
    EXPECT_NEAR(own_mean, mean, 0.08 * std::sqrt(variance)) << own;
    EXPECT_NEAR(own_variance / variance, 1.0, 0.12) << own;
    EXPECT_LT(draws.r_hat, 1.01);
    EXPECT_GT(draws.evaluations, 4000);
    // Fixed ones stay.
    const Vector noise = draws.values.col(model.parameters().offset("likelihood.variance"));
    EXPECT_EQ(noise.minCoeff(), noise.maxCoeff());
  }
}

// y = w + noise with both variances unknown: p(log σ², log s² | y) has two closed terms.
TEST(ParameterDraws, TwoParametersAgreeWithQuadrature) {
  const Index N = 8;
  RowMatrix X = RowMatrix::Zero(N, 1), Y(N, 1);
  Y << 1.3, 0.2, 2.1, 0.9, 1.6, 0.4, 1.1, 2.4;
  for (Index i = 0; i < N; ++i) X(i, 0) = static_cast<double>(i);
  RegressionOptions o;
  o.kernel = "constant";
  o.scale_inputs = o.scale_outputs = ScaleMode::none;
  Regression model(X, Y, o);
  model.parameters().set_prior("kernel.variance", Prior::log_normal(0.0, 1.0));
  model.parameters().set_prior("likelihood.variance", Prior::log_normal(-1.0, 0.7));
  model.fit();
  const double n = static_cast<double>(N), total = Y.sum(), squares = Y.squaredNorm();
  double sum = 0.0;
  Vector mean = Vector::Zero(2), second = Vector::Zero(2);
  double product = 0.0;
  for (double a = -6.0; a <= 6.0; a += 0.02)
    for (double b = -5.0; b <= 3.0; b += 0.02) {
      const double k = std::exp(a), s = std::exp(b), whole = s + n * k;
      const double log_p = -0.5 * ((n - 1.0) * b + std::log(whole)) -
                           0.5 * (squares - k * total * total / whole) / s - 0.5 * a * a -
                           0.5 * std::pow((b + 1.0) / 0.7, 2);
      const double p = std::exp(log_p);
      sum += p;
      mean += p * Vector{{a, b}};
      second += p * Vector{{a * a, b * b}};
      product += p * a * b;
    }
  mean /= sum;
  second /= sum;
  ParameterDrawOptions options;
  options.draws = 4000;
  options.thin = 2;
  const RowMatrix drawn = model.sample_parameters(options).values.array().log();
  for (Index i = 0; i < 2; ++i) {
    const double variance = second(i) - mean(i) * mean(i);
    EXPECT_NEAR(drawn.col(i).mean(), mean(i), 0.08 * std::sqrt(variance)) << i;
    EXPECT_NEAR(drawn.col(i).squaredNorm() / 4000.0 - std::pow(drawn.col(i).mean(), 2), variance,
                0.15 * variance)
        << i;
  }
  EXPECT_NEAR(drawn.col(0).dot(drawn.col(1)) / 4000.0, product / sum, 0.06);
}

TEST(ParameterDraws, AFitFromItsPartsGivesTheSameDraws) {
  const auto d = snelson_like_data(20, 3);
  RegressionOptions o;
  o.kernel = "matern52";
  o.mean = "constant";
  Regression model(d.X, d.y, o);
  const RegressionFit fit = model.fit();
  const ParameterDrawOptions few{.draws = 8, .chains = 2, .burn_in = 5, .thin = 1, .seed = 4};
  const ParameterDraws a = model.sample_parameters(few), b = sample_parameters(fit, few);
  EXPECT_LT((a.values - b.values).cwiseAbs().maxCoeff(), 1e-6);
  EXPECT_EQ(b.values, sample_parameters(fit, few).values);
  ParameterDrawOptions other = few;
  other.seed = 5;
  EXPECT_GT((a.values - sample_parameters(fit, other).values).cwiseAbs().maxCoeff(), 1e-3);
  const RegressionFit first = with_parameters(fit, a.values.row(0).transpose());
  model.parameters().set_values(a.values.row(0).transpose());
  EXPECT_NEAR(first.value, model.log_marginal_likelihood(), 1e-8);
  EXPECT_EQ(first.parameters.values(), Vector(a.values.row(0)));
  const RegressionFit same = with_parameters(fit, fit.parameters.values());
  EXPECT_EQ(same.predict(d.X).mean, fit.predict(d.X).mean);
}

// The variance of a mixture is the mean variance and the variance of the means.
TEST(ParameterDraws, PredictionsAreThoseOfTheMixture) {
  const RegressionFit fit = fitted(15);
  const ParameterDraws draws =
      sample_parameters(fit, {.draws = 6, .chains = 2, .burn_in = 10, .thin = 1});
  const RowMatrix X = Vector::LinSpaced(7, -1.0, 8.0);
  const Prediction p = predict(fit, draws, X);
  RowMatrix mean = RowMatrix::Zero(7, 1), second_f = mean, second_y = mean;
  for (Index d = 0; d < 6; ++d) {
    const Prediction own = with_parameters(fit, draws.values.row(d).transpose()).predict(X);
    mean += own.mean / 6.0;
    second_f.array() += (own.variance_f.array() + own.mean.array().square()) / 6.0;
    second_y.array() += (own.variance_y.array() + own.mean.array().square()) / 6.0;
  }
  EXPECT_LT((p.mean - mean).cwiseAbs().maxCoeff(), 1e-12);
  EXPECT_LT((p.variance_f.array() - second_f.array() + mean.array().square()).abs().maxCoeff(),
            1e-12);
  EXPECT_LT((p.variance_y.array() - second_y.array() + mean.array().square()).abs().maxCoeff(),
            1e-12);
}

TEST(ParameterDraws, EveryTrajectoryHasItsOwn) {
  RowMatrix s(40, 1);
  Random random(5);
  for (Index i = 0; i < 40; ++i)
    s(i) = std::sin(0.3 * static_cast<double>(i)) + 0.05 * random.normal();
  const LagWindows w = lag_windows(s, 2);
  const RegressionFit fit = Regression(w.X, w.Y).fit();
  const ParameterDraws draws =
      sample_parameters(fit, {.draws = 30, .chains = 2, .burn_in = 50, .thin = 2});
  DrawOptions options{.draws = 600, .features = 200, .parameters = draws.values};
  // One step ahead the moments are those of the mixture.
  const Prediction one = simulate(fit, s, 1, Propagation::draws, options),
                   exact = predict(fit, draws, RowMatrix(s.bottomRows(2).transpose()));
  EXPECT_NEAR(one.mean(0), exact.mean(0), 5.0 * std::sqrt(exact.variance_y(0) / 600.0));
  EXPECT_NEAR(one.variance_y(0) / exact.variance_y(0), 1.0, 0.4);
  // With one row for all it is the simulation of that fit.
  options.parameters = fit.parameters.values().transpose();
  options.draws = 50;
  const auto single = simulate_draws(fit, s, 3, options);
  ASSERT_EQ(single.size(), 50u);
  EXPECT_EQ(single[0].rows(), 3);
}

TEST(ParameterDraws, BadInput) {
  const RegressionFit fit = fitted(15);
  EXPECT_THROW(sample_parameters(fit, {.draws = 0}), InputError);
  EXPECT_THROW(sample_parameters(fit, {.thin = 0}), InputError);
  EXPECT_THROW(sample_parameters(without_outputs(fit)), Unsupported);
  EXPECT_THROW(with_parameters(fit, Vector::Ones(2)), InputError);
  EXPECT_THROW(predict(fit, {}, RowMatrix::Ones(1, 1)), InputError);
  const auto d = snelson_like_data(30, 3);
  SparseRegressionOptions o;
  o.inducing = 5;
  o.training.max_iterations = 5;
  EXPECT_THROW(sample_parameters(SparseRegression(d.X, d.y, o).fit()), Unsupported);
}

}  // namespace
}  // namespace covary
