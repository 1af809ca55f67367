// q(X) of a further sequence of a dynamical model.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "covary/error.hpp"
#include "covary/models/gplvm.hpp"
#include "covary/random/random.hpp"

namespace covary {
namespace {

const double nan = std::numeric_limits<double>::quiet_NaN();

// Six outputs of a closed curve, passed once in 25 steps.
RowMatrix curve(Index n, double phase, std::uint64_t seed) {
  RowMatrix out(n, 6);
  Random random(seed);
  for (Index i = 0; i < n; ++i) {
    const double t = phase + 0.25 * static_cast<double>(i);
    out.row(i) << std::sin(t), std::cos(t), std::sin(2 * t), 0.5 * std::cos(2 * t),
        std::sin(t) * std::cos(t), std::sin(t) + 0.3 * std::cos(3 * t);
    for (Index p = 0; p < 6; ++p) out(i, p) += 0.05 * random.normal();
  }
  return out;
}

RowMatrix steps(Index n) { return Vector::LinSpaced(n, 0.0, static_cast<double>(n - 1)); }

// One more than the curve needs: in two it cannot unfold, and where training ends is chance.
constexpr Index latent = 3;

struct Trained {
  RowMatrix Y;
  GplvmFit fit;
};

const Trained& trained() {
  static const Trained out = [] {
    RowMatrix Y(60, 6);
    Y << curve(30, 0.0, 1), curve(30, 2.0, 2);
    GplvmOptions o;
    o.latent = latent;
    o.inducing = 20;
    o.times.resize(60, 1);
    o.times << steps(30), steps(30);
    o.sequences = {0, 30};
    o.training.starts = 1;
    o.training.max_iterations = 200;
    return Trained{Y, Gplvm(Y, o).fit()};
  }();
  return out;
}

double rms(const RowMatrix& error) {
  return std::sqrt(error.squaredNorm() / static_cast<double>(error.size()));
}

TEST(GplvmSequence, CompletesWhatIsMissing) {
  const GplvmFit& fit = trained().fit;
  const RowMatrix truth = curve(30, 1.0, 3);
  RowMatrix seen = truth;
  seen.rightCols(3).setConstant(nan);
  seen.middleRows(10, 3).setConstant(nan);  // whole rows too: the dynamics carry over them
  const auto found = fit.infer_sequence(seen, steps(30));
  const RowMatrix completed = fit.decode(found.mean, found.variance).mean;
  EXPECT_LT(rms(completed.rightCols(3) - truth.rightCols(3)), 0.15);
  EXPECT_LT(rms(completed.middleRows(10, 3) - truth.middleRows(10, 3)), 0.2);
  // Of the dimensions in use: the others keep the prior everywhere.
  const RowMatrix variance = found.variance(Eigen::all, fit.active());
  EXPECT_GT(variance.row(11).sum(), 1.5 * variance.row(5).sum());
}

// B7: a sequence of the training rows lands where it lay.
TEST(GplvmSequence, B7TrainingSequenceLandsWhereItLay) {
  const GplvmFit& fit = trained().fit;
  const auto found = fit.infer_sequence(trained().Y.topRows(30), steps(30));
  const double spread = rms(fit.mean);
  EXPECT_LT(rms(found.mean - fit.mean.topRows(30)), 0.1 * spread);
}

TEST(GplvmSequence, BoundRisesAndTheBestStartIsKept) {
  const GplvmFit& fit = trained().fit;
  const RowMatrix Y = curve(30, 1.0, 3);
  double before = -std::numeric_limits<double>::infinity();
  for (const Index iterations : {0, 2, 5, 50}) {
    const double bound = fit.infer_sequence(Y, steps(30), {.iterations = iterations}).bound;
    EXPECT_GT(bound, before);
    before = bound;
  }
  const RowMatrix nowhere = RowMatrix::Zero(30, latent), far = RowMatrix::Constant(30, latent, 3.0);
  const auto found = fit.infer_sequence(Y, steps(30), {.start_means = {nowhere, far}});
  ASSERT_EQ(found.bounds.size(), 2u);
  EXPECT_EQ(found.bound, std::max(found.bounds[0], found.bounds[1]));
}

TEST(GplvmSequence, NothingSeenKeepsThePrior) {
  const GplvmFit& fit = trained().fit;
  const RowMatrix start = RowMatrix::Ones(5, latent);
  const auto found =
      fit.infer_sequence(RowMatrix::Constant(5, 6, nan), steps(5), {.start_means = {start}});
  const LatentMarginals prior = fit.forecast(steps(5), -1);
  EXPECT_LT((found.mean - prior.mean).norm(), 1e-3);
  EXPECT_LT((found.variance - prior.variance).norm(), 1e-3);
  EXPECT_NEAR(found.bound, 0.0, 1e-3);
}

// Of one row the dynamics are but a prior, of variance 1 and a little: infer() has the same bound.
TEST(GplvmSequence, OneRowIsInferredAsByItself) {
  const GplvmFit& fit = trained().fit;
  const RowMatrix row = curve(4, 1.3, 5).bottomRows(1);
  const auto alone = fit.infer(row);
  const auto found = fit.infer_sequence(row, steps(1), {.start_means = {alone.mean}});
  EXPECT_NEAR(found.bound, alone.bound(0), 1e-2);
  EXPECT_LT((found.mean - alone.mean).norm(), 1e-2);
}

TEST(GplvmSequence, OwnNoiseOfANoisierSequence) {
  const GplvmFit& fit = trained().fit;
  RowMatrix Y = curve(30, 1.0, 3);
  Y += 0.3 * Random(9).normal_matrix(30, 6);
  const auto as_trained = fit.infer_sequence(Y, steps(30)),
             own = fit.infer_sequence(Y, steps(30), {.own_noise = true});
  EXPECT_GT(own.bound, as_trained.bound + 10.0);
  EXPECT_GT(own.noise(0), 3.0 * as_trained.noise(0));
  const RowMatrix truth = curve(30, 1.0, 3);
  EXPECT_LT(rms(fit.decode(own.mean, own.variance).mean - truth),
            rms(fit.decode(as_trained.mean, as_trained.variance).mean - truth));
}

TEST(GplvmSequence, BadInput) {
  const GplvmFit& fit = trained().fit;
  const RowMatrix Y = curve(4, 0.0, 1);
  EXPECT_THROW(fit.infer_sequence(Y, steps(3)), InputError);
  EXPECT_THROW(fit.infer_sequence(Y.leftCols(5), steps(4)), InputError);
  EXPECT_THROW(fit.infer_sequence(Y, steps(4), {.start_means = {RowMatrix::Zero(4, 2)}}),
               InputError);
  EXPECT_THROW(fit.infer_sequence(Y, RowMatrix::Constant(4, 1, nan)), InputError);
  GplvmOptions o;
  o.latent = 1;
  o.inducing = 4;
  o.training.starts = 1;
  o.training.max_iterations = 0;
  EXPECT_THROW(Gplvm(trained().Y, o).fit().infer_sequence(Y, steps(4)), InputError);
}

}  // namespace
}  // namespace covary
