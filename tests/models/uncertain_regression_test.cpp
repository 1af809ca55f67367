#include "covary/models/uncertain_regression.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "covary/error.hpp"
#include "covary/models/model_data.hpp"
#include "covary/models/run.hpp"
#include "covary/models/sparse_regression.hpp"
#include "covary/random/random.hpp"

namespace covary {
namespace {

constexpr Index N = 150;

double curve(double x) { return std::sin(2.0 * x) + 0.3 * x; }

// Inputs seen with the standard deviations sx of the rows, outputs with 0.05.
struct Data {
  RowMatrix X = RowMatrix(N, 1), seen = X, Y = X;
  RowMatrix at = Vector::LinSpaced(200, -2.8, 2.8), f = at;
  explicit Data(std::uint64_t seed, const Vector& sx) {
    Random random(seed, 5);
    for (Index i = 0; i < N; ++i) {
      X(i, 0) = 6.0 * random.uniform() - 3.0;
      seen(i, 0) = X(i, 0) + sx(i) * random.normal();
      Y(i, 0) = curve(X(i, 0)) + 0.05 * random.normal();
    }
    for (double& v : f.reshaped()) v = curve(v);
  }
  double error(const RegressionFit& fit) const {
    return std::sqrt((fit.predict_mean(at) - f).squaredNorm() / 200.0);
  }
  double error_as_observed() const {
    return error(SparseRegression(seen, Y, {.inducing = 20}).fit());
  }
};
Vector everywhere(double sx) { return Vector::Constant(N, sx); }

UncertainInputsOptions options(double variance) {
  UncertainInputsOptions o;
  o.inducing = 20;
  if (variance > 0.0) o.input_variance = RowMatrix::Constant(1, 1, variance);
  return o;
}

TEST(UncertainInputsRegression, FindsTheFunctionBetterThanRegressionThatIgnoresTheNoise) {
  for (const bool trained : {false, true}) {
    double ours = 0.0, theirs = 0.0, places = 0.0, seen = 0.0, sd = 0.0;
    for (std::uint64_t seed = 0; seed < 4; ++seed) {
      const Data d(seed, everywhere(0.3));
      const UncertainInputsFit fit =
          UncertainInputsRegression(d.seen, d.Y, options(trained ? 0.0 : 0.09)).fit();
      EXPECT_EQ(fit.regression.posterior.name(), "vfe");
      EXPECT_LT(d.error(fit.regression), 1.05 * d.error_as_observed()) << seed;
      ours += d.error(fit.regression);
      theirs += d.error_as_observed();
      places += (fit.mean - d.X).norm();
      seen += (d.seen - d.X).norm();
      sd += 0.25 * std::sqrt(fit.input_variance(0, 0));
      EXPECT_EQ(fit.input_variance.rows(), 1);
      const double y_noise = fit.regression.posterior.noise_variance() *
                             std::pow(fit.regression.output_scaling.scale(0), 2);
      EXPECT_LT(y_noise, 0.04) << seed;  // of which the other takes 0.12
    }
    EXPECT_LT(ours, 0.7 * theirs) << trained;
    EXPECT_LT(places, 0.8 * seen) << trained;
    EXPECT_NEAR(sd, 0.3, trained ? 0.06 : 1e-12);
  }
}

TEST(UncertainInputsRegression, TrainedVarianceVanishesWhereInputsAreExact) {
  const Data d(1, everywhere(0.0));
  const UncertainInputsFit fit = UncertainInputsRegression(d.seen, d.Y, options(0.0)).fit();
  EXPECT_LT(std::sqrt(fit.input_variance(0, 0)), 0.03);
  EXPECT_LT(d.error(fit.regression), 0.05);
}

// Every other row is seen well, and the model is told so.
TEST(UncertainInputsRegression, RowsHaveVariancesOfTheirOwn) {
  double told = 0.0, not_told = 0.0;
  for (std::uint64_t seed = 0; seed < 4; ++seed) {
    Vector sx = everywhere(0.6);
    for (Index i = 0; i < N; i += 2) sx(i) = 0.0;
    const Data d(seed, sx);
    UncertainInputsOptions o = options(0.0);
    o.input_variance = sx.cwiseAbs2();
    const UncertainInputsFit fit = UncertainInputsRegression(d.seen, d.Y, o).fit();
    told += d.error(fit.regression);
    not_told += d.error(UncertainInputsRegression(d.seen, d.Y, options(0.18)).fit().regression);
    for (Index i = 0; i < N; i += 2) {
      EXPECT_EQ(fit.variance(i, 0), 0.0);
      EXPECT_NEAR(fit.mean(i, 0), d.seen(i, 0), 1e-12);
      EXPECT_GT(fit.variance(i + 1, 0), 0.0);
    }
    EXPECT_LT((fit.input_variance - o.input_variance).cwiseAbs().maxCoeff(), 1e-12);
  }
  EXPECT_LT(told, 0.8 * not_told);
}

// A factor of them is found.
TEST(UncertainInputsRegression, TrainsAFactorOfTheVariancesGiven) {
  Vector sx = everywhere(0.4);
  for (Index i = 0; i < N; i += 2) sx(i) = 0.1;
  const Data d(2, sx);
  UncertainInputsOptions o = options(0.0);
  o.input_variance = 4.0 * sx.cwiseAbs2();
  o.train_variance = true;
  const UncertainInputsFit fit = UncertainInputsRegression(d.seen, d.Y, o).fit();
  const Vector factor = fit.input_variance.col(0).cwiseQuotient(sx.cwiseAbs2());
  EXPECT_NEAR(factor.minCoeff(), factor.maxCoeff(), 1e-9);
  EXPECT_NEAR(std::sqrt(factor(0)), 1.0, 0.3);
}

// No variance is sparse regression.
TEST(UncertainInputsRegression, KnownInputsAreSparseRegression) {
  const Data d(3, everywhere(0.2));
  UncertainInputsOptions o = options(0.0);
  o.input_variance = RowMatrix::Zero(1, 1);
  const UncertainInputsFit fit = UncertainInputsRegression(d.seen, d.Y, o).fit();
  const Vector Z = fit.regression.parameters.at("features.Z").value;
  SparseRegressionOptions r;
  r.Z = fit.regression.input_scaling.undo(RowMatrix(Z));
  r.training.max_iterations = 0;
  r.jitter = fit.regression.posterior.jitter();
  SparseRegression same(d.seen, d.Y, r);
  for (const char* path : {"kernel.variance", "kernel.lengthscales", "likelihood.variance"})
    same.parameters().set(path, fit.regression.parameters.at(path).value);
  EXPECT_NEAR(fit.regression.summary.value, same.evaluate().value, 1e-4);
  EXPECT_LT(
      (fit.regression.predict_mean(d.at) - same.fit().predict_mean(d.at)).cwiseAbs().maxCoeff(),
      1e-4);
  EXPECT_EQ(fit.variance.maxCoeff(), 0.0);
  EXPECT_EQ(fit.input_variance(0, 0), 0.0);
}

// What is trained does not depend on the units; its bound does by the units of the outputs alone.
TEST(UncertainInputsRegression, UnitsAreUndone) {
  const Data d(4, everywhere(0.3));
  const UncertainInputsFit one = UncertainInputsRegression(d.seen, d.Y, options(0.09)).fit();
  const RowMatrix X = (1000.0 * d.seen).array() + 5000.0, Y = (100.0 * d.Y).array() - 300.0;
  const UncertainInputsFit other = UncertainInputsRegression(X, Y, options(9e4)).fit();
  const RowMatrix at = (1000.0 * d.at).array() + 5000.0;
  EXPECT_LT((other.regression.predict_mean(at).array() / 100.0 + 3.0 -
             one.regression.predict_mean(d.at).array())
                .abs()
                .maxCoeff(),
            1e-3);
  EXPECT_LT((other.variance / 1e6 - one.variance).cwiseAbs().maxCoeff(), 1e-4);
  EXPECT_LT(((other.mean.array() - 5000.0) / 1000.0 - one.mean.array()).abs().maxCoeff(), 1e-2);
  EXPECT_NEAR(other.regression.summary.value,
              one.regression.summary.value - static_cast<double>(N) * std::log(100.0), 1e-2);
  EXPECT_NEAR(other.input_variance(0, 0), 9e4, 1e-6);
}

TEST(UncertainInputsRegression, InputsMayStayAsTheyWereObserved) {
  const Data d(5, everywhere(0.3));
  UncertainInputsOptions o = options(0.09);
  o.move_inputs = false;
  const UncertainInputsFit fit = UncertainInputsRegression(d.seen, d.Y, o).fit();
  EXPECT_LT((fit.mean - d.seen).cwiseAbs().maxCoeff(), 1e-12);
  EXPECT_LT((fit.variance.array() - 0.09).abs().maxCoeff(), 1e-12);
  // The constraint costs some of the bound.
  EXPECT_LT(fit.regression.summary.value,
            UncertainInputsRegression(d.seen, d.Y, options(0.09)).fit().regression.summary.value);
}

TEST(UncertainInputsRegression, GoesOnWithTheSameBits) {
  const Data d(6, everywhere(0.3));
  UncertainInputsOptions o = options(0.0);
  o.inducing = 10;
  o.held_iterations = 10;
  o.training.max_iterations = 15;
  std::vector<TrainingState> states;
  o.training.after_iteration = [&](const TrainingProgress& p) { states.push_back(p.state()); };
  const UncertainInputsFit whole = UncertainInputsRegression(d.seen, d.Y, o).fit();
  o.training.after_iteration = nullptr;
  ASSERT_GT(states.size(), 40u);
  for (std::size_t i = 0; i < states.size(); i += 9) {
    UncertainInputsRegression model(d.seen, d.Y, o);
    model.resume(states[i]);
    const UncertainInputsFit fit = model.fit();
    EXPECT_EQ(fit.regression.parameters.values(), whole.regression.parameters.values()) << i;
    EXPECT_EQ(fit.mean, whole.mean) << i;
    EXPECT_EQ(fit.regression.summary.value, whole.regression.summary.value) << i;
  }
}

TEST(UncertainInputsRegression, BadInputIsRefused) {
  Data d(7, everywhere(0.1));
  const auto refused = [&](const UncertainInputsOptions& o) {
    EXPECT_THROW(UncertainInputsRegression(d.seen, d.Y, o), InputError);
  };
  UncertainInputsOptions o = options(0.0);
  o.input_variance = RowMatrix::Constant(1, 2, 0.1);
  refused(o);
  o.input_variance = RowMatrix::Constant(7, 1, 0.1);
  refused(o);
  o.input_variance = RowMatrix::Constant(1, 1, -0.1);
  refused(o);
  o.input_variance = RowMatrix::Constant(N, 1, 0.1);
  o.input_variance(3, 0) = std::numeric_limits<double>::quiet_NaN();
  refused(o);
  o = options(0.0);
  o.move_inputs = false;
  refused(o);
  o = options(0.1);
  o.inducing = -1;
  refused(o);
  EXPECT_THROW(UncertainInputsRegression(d.seen.topRows(9), d.Y, options(0.1)), InputError);
  d.seen(11, 0) = std::numeric_limits<double>::quiet_NaN();
  try {
    const UncertainInputsRegression model(d.seen, d.Y, options(0.1));
    FAIL() << "a missing input was accepted";
  } catch (const InputError& e) {
    EXPECT_NE(std::string(e.what()).find("row 11"), std::string::npos) << e.what();
  }
}

// What held-out rows are scored by is in the file.
TEST(UncertainInputs, ALoadedFitScoresHeldOutRowsAsTheOneThatWasMade) {
  RowMatrix values = Random(2).normal_matrix(30, 2);
  values.col(1) += values.col(0).array().sin().matrix();
  for (const bool missing : {false, true}) {
    if (missing) values(3, 0) = std::nan("");
    FitOptions o;
    for (const auto& [name, value] :
         {std::pair{"target", "c1"}, {"inducing", "6"}, {"max-iter", "3"}})
      set_option(o, name, value);
    if (missing)
      set_option(o, "missing", "learn");
    else
      set_option(o, "model", "noisy_inputs"), set_option(o, "input-noise", "0.5");
    FitSession session;
    FitRun run(numeric_table(values), o, [](const std::string&) {});
    const Fit made = run.train(session);
    const HeldOut before = made->held_out(run.request().data),
                  after = load_bytes(made->bytes())->held_out(run.request().data);
    EXPECT_EQ(before.nlpd, after.nlpd);
    EXPECT_EQ(before.nlpd.size(), 30U);
    // The uncertainty counts: without it the scores are others.
    RegressionFit plain = made.as<RegressionFit>();
    plain.diagnostics.clear();
    if (!missing) {
      EXPECT_NE(plain.held_out(run.request().data).nlpd, before.nlpd);
    }
  }
}

}  // namespace
}  // namespace covary
