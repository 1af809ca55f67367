#include "covary/inference/exact_posterior.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "covary/error.hpp"
#include "covary/kernels/kernels.hpp"
#include "covary/linalg/blas.hpp"
#include "support/gradient_check.hpp"
#include "support/random_data.hpp"

namespace covary {
namespace {

ExactPosteriorParts slides() {
  ExactPosteriorParts p;
  p.kernel = se();
  p.theta = (Vector(2) << 1.0, 0.8).finished();
  p.noise_variance = 0.04;
  p.X = (RowMatrix(5, 1) << 0, .5, 1.2, 2, 3.1).finished();
  p.Y = (RowMatrix(5, 1) << .3, .8, .6, -.4, -1).finished();
  return p;
}

// Two outputs, the second with gaps, a mean function, a sum kernel and noise of each row.
ExactPosteriorParts rich(Index N = 20) {
  const auto data = testing::small_data(N, 2, 2, 8);
  ExactPosteriorParts p;
  p.kernel = se(true) + linear() + matern32();
  p.theta = (Vector(6) << 1.1, 0.9, 1.4, 0.3, 0.5, 2.0).finished();
  p.mean = Mean("linear");
  p.mean_weights = (Matrix(3, 2) << 0.2, -0.1, 0.4, 0.3, -0.2, 0.6).finished();
  p.noise_variance = 0.05;
  p.point_noise = Vector::LinSpaced(N, 0.0, 0.1);
  p.X = data.X;
  p.Y = data.Y;
  p.Y(4, 1) = p.Y(11, 1) = std::nan("");
  return p;
}

TEST(ExactPosterior, T8_PredictionOfTheSlides) {
  const ExactPosterior post(slides());
  const Prediction p = post.predict(RowMatrix::Constant(1, 1, 1.5));
  EXPECT_NEAR(p.mean(0, 0), .25099915220009233, 1e-14);
  EXPECT_NEAR(p.variance_f(0, 0), .0405125373652675, 1e-14);
  EXPECT_NEAR(p.variance_y(0, 0), .0805125373652675, 1e-14);
}

TEST(ExactPosterior, P1_EvidenceIsTheSumOfOneStepPredictions) {
  const ExactPosterior post(rich());
  const double sum = post.one_step_log_densities(0).sum() + post.one_step_log_densities(1).sum();
  EXPECT_NEAR(post.log_evidence(), sum, 1e-10);
  // The third one-step density is the prediction from the first two rows.
  auto few = slides();
  const ExactPosterior two([&] {
    auto q = few;
    q.X = few.X.topRows(2);
    q.Y = few.Y.topRows(2);
    return q;
  }());
  const Prediction p = two.predict(few.X.row(2));
  const double z = few.Y(2, 0) - p.mean(0, 0), v = p.variance_y(0, 0);
  EXPECT_NEAR(ExactPosterior(few).one_step_log_densities()(2),
              -0.5 * (z * z / v + std::log(2 * M_PI * v)), 1e-12);
}

TEST(ExactPosterior, P4_T2_PredictionsAreConsistentUnderMarginalisation) {
  const ExactPosterior post(slides());
  const RowMatrix many = Vector::LinSpaced(7, -1, 4);
  const Matrix C = post.covariance(many);
  const Prediction all = post.predict(many);
  for (Index i = 0; i < 7; ++i) {
    const Prediction one = post.predict(many.row(i));
    EXPECT_NEAR(one.mean(0, 0), all.mean(i, 0), 1e-14);
    EXPECT_NEAR(one.variance_f(0, 0), C(i, i), 1e-14);
  }
}

TEST(ExactPosterior, ComponentsAddUpToTheMean) {
  const auto parts = rich();
  const ExactPosterior post(parts);
  const RowMatrix X = testing::small_data(6, 2, 1, 99).X;
  RowMatrix sum = product(parts.mean.basis(X), parts.mean_weights);
  const auto components = post.components(X);
  ASSERT_EQ(components.size(), 3u);
  for (const auto& c : components) {
    sum += c.mean;
    EXPECT_GE(c.variance.minCoeff(), 0.0);
  }
  EXPECT_LT((sum - post.predict(X).mean).cwiseAbs().maxCoeff(), 1e-12);
  EXPECT_EQ(components[1].name, "linear");
}

TEST(ExactPosterior, GradientsOfPredictionsInX) {
  const ExactPosterior post(rich());
  const RowMatrix X = testing::small_data(5, 2, 1, 31).X;
  for (Index output = 0; output < 2; ++output) {
    const PredictionGradient g = post.gradient(X, output);
    for (Index i = 0; i < X.rows(); ++i) {
      const auto at = [&](const Vector& x) { return post.predict(RowMatrix(x.transpose())); };
      expect_gradient([&](const Vector& x) { return at(x).mean(0, output); }, g.mean.row(i),
                      X.row(i));
      expect_gradient([&](const Vector& x) { return at(x).variance_f(0, output); },
                      g.variance.row(i), X.row(i));
    }
  }
}

TEST(ExactPosterior, LeaveOneOutEqualsRefitting) {
  const auto parts = rich(12);
  const LeaveOneOut loo = ExactPosterior(parts).leave_one_out();
  double total = 0.0;
  for (Index p = 0; p < 2; ++p)
    for (Index n = 0; n < 12; ++n) {
      if (std::isnan(parts.Y(n, p))) {
        EXPECT_TRUE(std::isnan(loo.mean(n, p)));
        continue;
      }
      auto rest = parts;
      rest.Y(n, p) = std::nan("");
      const Prediction held = ExactPosterior(rest).predict(parts.X.row(n));
      const double v = held.variance_y(0, p) + parts.point_noise(n),
                   e = parts.Y(n, p) - held.mean(0, p);
      EXPECT_NEAR(loo.mean(n, p), held.mean(0, p), 1e-10);
      EXPECT_NEAR(loo.variance(n, p), v, 1e-10);
      total -= 0.5 * (e * e / v + std::log(2 * M_PI * v));
    }
  EXPECT_NEAR(loo.log_density, total, 1e-8);
}

TEST(ExactPosterior, FurtherRowsEqualAFreshPosterior) {
  const auto all = rich(20);
  auto first = all;
  first.X = all.X.topRows(15);
  first.Y = all.Y.topRows(15);
  first.point_noise = all.point_noise.head(15);
  const RowMatrix X = testing::small_data(6, 2, 1, 5).X;
  const ExactPosterior grown =
      ExactPosterior(first).with(all.X.bottomRows(5), all.Y.bottomRows(5), all.point_noise.tail(5));
  const ExactPosterior fresh(all);
  EXPECT_LT((grown.predict(X).mean - fresh.predict(X).mean).cwiseAbs().maxCoeff(), 1e-11);
  EXPECT_LT((grown.predict(X).variance_f - fresh.predict(X).variance_f).cwiseAbs().maxCoeff(),
            1e-12);
  EXPECT_NEAR(grown.log_evidence(), fresh.log_evidence(), 1e-10);
  // New rows whose gaps split the columns otherwise: formed anew.
  auto odd = all;
  odd.Y(17, 0) = std::nan("");
  const ExactPosterior split =
      ExactPosterior(first).with(odd.X.bottomRows(5), odd.Y.bottomRows(5), odd.point_noise.tail(5));
  EXPECT_NEAR(split.log_evidence(), ExactPosterior(odd).log_evidence(), 1e-10);
}

// Means and covariances of draws, joint and as functions, against the closed form.
TEST(ExactPosterior, DrawsHaveThePosteriorMoments) {
  const ExactPosterior post(slides());
  const RowMatrix X = (RowMatrix(3, 1) << 0.2, 1.6, 4.0).finished();
  const Prediction p = post.predict(X);
  const Matrix C = post.covariance(X);
  const Index n = 3000;
  const auto joint = post.sample(X, n, 1);
  const auto functions = post.sample_functions(n, 2, 200);
  for (const bool pathwise : {false, true}) {
    Matrix f(3, n);
    for (Index s = 0; s < n; ++s)
      f.col(s) = pathwise ? Vector(functions[static_cast<std::size_t>(s)](X).col(0))
                          : Vector(joint[static_cast<std::size_t>(s)].col(0));
    const Vector mean = f.rowwise().mean();
    const Matrix centred = f.colwise() - mean;
    const Matrix S = product(centred, centred, Op::none, Op::transpose) / static_cast<double>(n);
    EXPECT_LT((mean - p.mean.col(0)).cwiseAbs().maxCoeff(), 5.0 / std::sqrt(n)) << pathwise;
    EXPECT_LT((S - C).cwiseAbs().maxCoeff(), 0.12) << pathwise;
  }
}

// White noise counts as noise in a function's draw wherever it stands in the kernel.
TEST(ExactPosterior, NestedWhiteNoiseIsNoiseInFunctionDraws) {
  auto flat = slides(), nested = slides();
  flat.kernel = se() + white();
  flat.theta = (Vector(3) << 1.0, 0.8, 0.3).finished();
  nested.kernel = 2.0 * (se() + white());
  nested.theta = (Vector(3) << 0.5, 0.8, 0.15).finished();
  const RowMatrix X = (RowMatrix(1, 1) << 1.2).finished();
  const double expected = ExactPosterior(flat).predict(X).variance_f(0, 0) - 0.3;
  for (const auto& parts : {flat, nested}) {
    Vector f(3000);
    const auto draws = ExactPosterior(parts).sample_functions(3000, 5, 100);
    for (Index s = 0; s < 3000; ++s) f(s) = draws[static_cast<std::size_t>(s)](X)(0, 0);
    const double variance = (f.array() - f.mean()).square().mean();
    EXPECT_NEAR(variance, expected, 0.15 * expected);
  }
}

TEST(ExactPosterior, AFunctionDrawIsAFunction) {
  const auto draw = ExactPosterior(slides()).sample_functions(1, 3).front();
  const RowMatrix X = Vector::LinSpaced(5, -2, 5);
  const RowMatrix all = draw(X);
  for (Index i = 0; i < 5; ++i) EXPECT_NEAR(draw(X.row(i))(0, 0), all(i, 0), 1e-12);
}

TEST(ExactPosterior, PriorDrawsHaveThePriorCovariance) {
  const RowMatrix X = (RowMatrix(2, 1) << 0.0, 0.6).finished();
  const Vector theta = (Vector(2) << 1.3, 0.8).finished();
  const Matrix f = sample_prior(se(), theta, X, 20000, 1);
  const Matrix S = product(f, f, Op::none, Op::transpose) / 20000.0;
  EXPECT_LT((S - gram(se(), theta, X)).cwiseAbs().maxCoeff(), 0.06);
}

TEST(ExactPosterior, VariancesAreNeverNegative) {
  auto parts = slides();
  parts.noise_variance = 1e-12;
  const ExactPosterior post(parts);
  EXPECT_GE(post.predict(parts.X).variance_f.minCoeff(), 0.0);
  EXPECT_GE(post.covariance(parts.X).diagonal().minCoeff(), 0.0);
}

TEST(ExactPosterior, WhiteNoiseIsPartOfF) {
  auto parts = slides();
  parts.kernel = se() + white();
  parts.theta = (Vector(3) << 1.0, 0.8, 0.3).finished();
  auto noisy = slides();
  noisy.noise_variance += 0.3;
  const RowMatrix X = (RowMatrix(1, 1) << 1.5).finished();
  const Prediction with_white = ExactPosterior(parts).predict(X),
                   with_noise = ExactPosterior(noisy).predict(X);
  EXPECT_NEAR(with_white.mean(0, 0), with_noise.mean(0, 0), 1e-14);
  EXPECT_NEAR(with_white.variance_f(0, 0), with_noise.variance_f(0, 0) + 0.3, 1e-14);
  EXPECT_NEAR(with_white.variance_y(0, 0), with_noise.variance_y(0, 0), 1e-14);
}

TEST(ExactPosterior, BadInput) {
  const ExactPosterior post(slides());
  EXPECT_THROW(post.predict(RowMatrix::Zero(2, 2)), InputError);
  EXPECT_THROW(post.predict(RowMatrix::Constant(1, 1, std::nan(""))), InputError);
  EXPECT_THROW(post.covariance(RowMatrix::Zero(2, 1), 1), InputError);
  EXPECT_THROW(post.sample(RowMatrix::Zero(2, 1), 0, 1), InputError);
  EXPECT_THROW(post.sample_functions(1, 1, 0), InputError);
  EXPECT_THROW(post.with(RowMatrix::Zero(2, 1), RowMatrix::Zero(1, 1)), InputError);
  EXPECT_THROW(post.with(RowMatrix::Zero(1, 1), RowMatrix::Zero(1, 1), Vector::Ones(1)),
               InputError);
  EXPECT_EQ(post.predict(RowMatrix(0, 1)).mean.rows(), 0);
}

}  // namespace
}  // namespace covary
