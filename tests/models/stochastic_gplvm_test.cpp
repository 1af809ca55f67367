#include "covary/models/stochastic_gplvm.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numeric>

#include "covary/error.hpp"
#include "covary/likelihoods/formula.hpp"
#include "support/gradient_check.hpp"

namespace covary {
namespace {

constexpr double missing = std::numeric_limits<double>::quiet_NaN();

// A curve in four columns.
RowMatrix curve(Index n, double noise = 0.05) {
  Random random(3);
  RowMatrix Y(n, 4);
  for (Index i = 0; i < n; ++i) {
    const double t = 3.0 * random.uniform() - 1.5;
    Y.row(i) << t, std::sin(2.0 * t), std::cos(2.0 * t), t * t - 1.0;
    for (Index p = 0; p < 4; ++p) Y(i, p) += noise * random.normal();
  }
  return Y;
}

StochasticGplvmOptions small(const char* likelihood = "gaussian") {
  StochasticGplvmOptions o;
  o.gplvm.latent = 2;
  o.gplvm.inducing = 7;
  o.gplvm.seed = 1;
  o.likelihood = likelihood;
  return o;
}

RowMatrix outputs_for(const std::string& likelihood, Index n) {
  RowMatrix Y = curve(n);
  if (likelihood == "bernoulli") Y = (Y.array() > 0.0).cast<double>();
  if (likelihood == "poisson") Y = Y.array().exp().round();
  Y(1, 2) = missing;
  Y(4, 0) = Y(4, 1) = missing;
  return Y;
}

std::vector<Index> all_of(Index n) {
  std::vector<Index> out(static_cast<std::size_t>(n));
  std::iota(out.begin(), out.end(), Index{0});
  return out;
}

NaturalGaussian some_q(const StochasticGplvm& model, Index P) {
  NaturalGaussian q = model.prior();
  Random random(8);
  const Matrix g = random.normal_matrix(q.size(), P);
  std::vector<Matrix> H;
  for (Index p = 0; p < P; ++p) {
    const Matrix A = random.normal_matrix(q.size(), q.size());
    H.emplace_back(-0.1 * A * A.transpose());
  }
  q.step(g, H, 0.7);
  return q;
}

// At the best q(u) of all rows the bound is that of the collapsed model (spec 1.8).
TEST(StochasticGplvm, BestQIsTheCollapsedBound) {
  for (const bool complete : {true, false}) {
    RowMatrix Y = curve(30);
    if (!complete) Y(1, 2) = Y(4, 0) = Y(9, 2) = missing;
    StochasticGplvmOptions o = small();
    if (!complete) o.gplvm.features = "basis(2)";
    o.gplvm.jitter = 1e-6;
    const StochasticGplvm model(Y, o);
    Gplvm collapsed(Y, o.gplvm);
    const double expected = collapsed.elbo();
    EXPECT_NEAR(model.elbo(), expected, 1e-8 * std::abs(expected));
    EXPECT_LT(std::abs(model.elbo() - expected), 1e-7);
  }
}

// Gaussian noise is what has its form and not what is called so, and starts where it is told.
TEST(StochasticGplvm, GaussianNoiseIsKnownByItsForm) {
  const RowMatrix Y = curve(10);
  StochasticGplvmOptions o = small("gaussian(variance=0.3)");
  const StochasticGplvm told(Y, o);
  EXPECT_EQ(told.parameters().at("likelihood.variance").value(0), 0.3);
  Gplvm collapsed(Y, o.gplvm);
  collapsed.parameters().set("likelihood.variance", 0.3);
  EXPECT_NEAR(told.elbo(), collapsed.elbo(), 1e-7);

  o.likelihood =
      formula_likelihood("gaussian", {{"sd", 0.5}}, [](double y, double, auto f, auto theta) {
        using std::log;
        const auto z = (y - f) / theta[0];
        return -0.5 * z * z - log(theta[0]);
      });
  const StochasticGplvm named(Y, o);
  EXPECT_EQ(named.parameters().at("likelihood.sd").value(0), 0.5);
  EXPECT_FALSE(named.parameters().contains("likelihood.variance"));
  EXPECT_TRUE(std::isfinite(named.elbo()));
}

// Batches of all rows once are an unbiased estimate of the whole: their mean is the whole.
TEST(StochasticGplvm, BatchesAddUp) {
  for (const char* likelihood : {"gaussian", "bernoulli", "poisson"}) {
    SCOPED_TRACE(likelihood);
    const RowMatrix Y = outputs_for(likelihood, 12);
    const StochasticGplvm model(Y, small(likelihood));
    const NaturalGaussian q = some_q(model, 4);
    Jitter jitter{1e-6};
    const double whole = model.evaluate(all_of(12), q.q(), jitter);
    double mean = 0.0;
    for (Index b = 0; b < 4; ++b)
      mean += 0.25 * model.evaluate(std::vector<Index>{3 * b, 3 * b + 1, 3 * b + 2}, q.q(), jitter);
    EXPECT_NEAR(mean, whole, 1e-9 * std::abs(whole));
  }
}

TEST(StochasticGplvm, GradientsMatchDifferences) {
  for (const char* likelihood : {"gaussian", "bernoulli", "poisson", "student_t"}) {
    SCOPED_TRACE(likelihood);
    const RowMatrix Y = outputs_for(likelihood, 9);
    StochasticGplvmOptions o = small(likelihood);
    o.gplvm.inducing = 4;
    o.draws = 4;
    StochasticGplvm model(Y, o);
    const NaturalGaussian q = some_q(model, 4);
    const std::vector<Index> rows = {0, 1, 4, 7};
    Jitter jitter{1e-6};
    StochasticGplvm::Gradient g;
    model.evaluate(rows, q.q(), jitter, &g);
    const Vector start = model.parameters().values();
    const Index latent = 9 * 2, shared = g.values_bar.size();
    ASSERT_EQ(start.size(), 2 * latent + shared);
    Vector gradient = Vector::Zero(start.size());
    const double scale = 9.0 / 4.0;
    for (std::size_t i = 0; i < rows.size(); ++i)
      for (Index d = 0; d < 2; ++d) {
        const auto at = static_cast<Index>(i);
        gradient(rows[i] * 2 + d) = scale * g.mean_bar(at, d);
        gradient(latent + rows[i] * 2 + d) = scale * g.variance_bar(at, d);
      }
    gradient.tail(shared) = g.values_bar;
    expect_gradient(
        [&](const Vector& values) {
          StochasticGplvm there(Y, o);
          there.parameters().set_values(values);
          Jitter same{1e-6};
          return there.evaluate(rows, q.q(), same);
        },
        gradient, start);
    // by m, of the data's term: the divergence of q(u) is not in it
    const Matrix m = q.q().m;
    const Vector flat = Eigen::Map<const Vector>(m.data(), m.size());
    const Matrix by_m = g.of_q.g - m;
    expect_gradient(
        [&](const Vector& at) {
          WhitenedGaussian moved = q.q();
          moved.m = Eigen::Map<const Matrix>(at.data(), m.rows(), m.cols());
          Jitter same{1e-6};
          return model.evaluate(rows, moved, same);
        },
        Eigen::Map<const Vector>(by_m.data(), by_m.size()), flat);
  }
}

TEST(StochasticGplvm, MinibatchesFindTheCurve) {
  const RowMatrix Y = curve(300);
  StochasticGplvmOptions o = small();
  o.gplvm.inducing = 15;
  o.gplvm.training.batch = 50;
  o.gplvm.training.steps = 900;
  StochasticGplvm model(Y, o);
  const double before = model.elbo();
  const GplvmFit fit = model.fit();
  EXPECT_GT(fit.value, before + 500.0);
  EXPECT_LT((fit.decode(fit.mean).mean - Y).norm() / std::sqrt(static_cast<double>(Y.size())), 0.1);
  EXPECT_EQ(fit.summary.iterations, 900);
  EXPECT_NE(fit.summary.route.find("minibatches of 50"), std::string::npos);
}

// The fit says what q(u) says, gives labels back and places rows with missing cells.
TEST(StochasticGplvm, LabelsHaveALatentSpace) {
  const RowMatrix Y = outputs_for("bernoulli", 150);
  StochasticGplvmOptions o = small("bernoulli");
  o.gplvm.training.batch = 50;
  o.gplvm.training.steps = 200;
  o.draws = 8;
  StochasticGplvm model(Y, o);
  const double before = model.elbo();
  const GplvmFit fit = model.fit();
  EXPECT_GT(fit.value, before + 20.0);
  EXPECT_EQ(fit.likelihood->print(), "bernoulli(logit)");
  const Prediction p = fit.decode(fit.mean);
  EXPECT_GE(p.mean.minCoeff(), 0.0);
  EXPECT_LE(p.mean.maxCoeff(), 1.0);
  double right = 0.0, count = 0.0;
  for (Index i = 0; i < Y.rows(); ++i)
    for (Index k = 0; k < 4; ++k)
      if (!std::isnan(Y(i, k))) {
        right += (p.mean(i, k) > 0.5) == (Y(i, k) > 0.5);
        count += 1.0;
      }
  EXPECT_GT(right / count, 0.93);
  // The first column has the sign of the second.
  RowMatrix rows = Y.topRows(20);
  rows.col(0).setConstant(missing);
  rows.row(19).setConstant(missing);
  const auto found = fit.infer(rows, 100);
  EXPECT_TRUE(found.bound.allFinite());
  const Prediction filled = fit.decode(found.mean, found.variance);
  double hits = 0.0;
  for (Index i = 0; i < 19; ++i)
    hits += !std::isnan(Y(i, 0)) && (filled.mean(i, 0) > 0.5) == (Y(i, 0) > 0.5);
  EXPECT_GE(hits, 17.0);                       // of 18
  EXPECT_LT(found.mean.row(19).norm(), 0.05);  // nothing observed: the prior
  EXPECT_EQ(fit.log_density(rows, 100), found.bound);
  EXPECT_THROW(fit.output_covariance(fit.mean.topRows(1), fit.variance.topRows(1)), Unsupported);
}

TEST(StochasticGplvm, RefusesWhatItCannotDo) {
  const RowMatrix Y = curve(20);
  StochasticGplvmOptions o = small();
  o.gplvm.times = Vector::LinSpaced(20, 0.0, 1.0);
  EXPECT_THROW(StochasticGplvm(Y, o), Unsupported);
  EXPECT_THROW(StochasticGplvm(Y, small("softmax(3)")), Unsupported);
  EXPECT_THROW(StochasticGplvm(Y, small("bernoulli")), InputError);  // no labels
  o = small();
  o.gplvm.training.batch = -1;
  EXPECT_THROW(StochasticGplvm(Y, o), InputError);
  o = small();
  o.draws = 3;
  EXPECT_THROW(StochasticGplvm(Y, o), InputError);
}

TEST(StochasticGplvm, SameSeedSameBits) {
  const RowMatrix Y = outputs_for("poisson", 40);
  StochasticGplvmOptions o = small("poisson");
  o.gplvm.training.batch = 16;
  o.gplvm.training.steps = 30;
  const GplvmFit a = StochasticGplvm(Y, o).fit(), b = StochasticGplvm(Y, o).fit();
  EXPECT_EQ(a.mean, b.mean);
  EXPECT_EQ(a.value, b.value);
}

// Taken up from any step, q(x) of the rows and q(u) with it, training ends with the same bits.
TEST(StochasticGplvm, ResumedTrainingHasTheSameBits) {
  const RowMatrix Y = outputs_for("poisson", 40);
  StochasticGplvmOptions o = small("poisson");
  o.gplvm.training.batch = 16;
  o.gplvm.training.steps = 40;
  o.gplvm.training.natural_ramp = 3;
  std::vector<TrainingState> states;
  o.gplvm.training.after_iteration = [&](const TrainingProgress& now) {
    states.push_back(now.state());
  };
  o.gplvm.training.starts = 2;
  const GplvmFit whole = StochasticGplvm(Y, o).fit();
  o.gplvm.training.after_iteration = nullptr;
  ASSERT_EQ(states.size(), 82u);
  ASSERT_EQ(whole.summary.starts.size(), 2u);
  EXPECT_NE(whole.summary.starts[0].value, whole.summary.starts[1].value);
  EXPECT_EQ(whole.summary.evaluations, 2 * 40 * o.local_steps);
  for (const std::size_t i : {std::size_t{2}, std::size_t{40}, std::size_t{60}, std::size_t{81}}) {
    StochasticGplvm again(Y, o);
    again.resume(states[i]);
    const GplvmFit fit = again.fit();
    EXPECT_EQ(fit.mean, whole.mean);
    EXPECT_EQ(fit.variance, whole.variance);
    EXPECT_EQ(fit.parameters.values(), whole.parameters.values());
    EXPECT_EQ(fit.value, whole.value);
    EXPECT_EQ(fit.summary.best_start, whole.summary.best_start);
  }
}

}  // namespace
}  // namespace covary
