#include "covary/models/svgp.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <cmath>
#include <limits>

#include "covary/error.hpp"
#include "covary/likelihoods/formula.hpp"
#include "covary/linalg/parallel.hpp"
#include "covary/models/sparse_regression.hpp"
#include "covary/random/random.hpp"
#include "support/gradient_check.hpp"
#include "support/random_data.hpp"

namespace covary {
namespace {

constexpr double missing = std::numeric_limits<double>::quiet_NaN();

struct Labelled {
  RowMatrix X;
  Vector y;
};

// The classification spec's simulation I: f = 3(sin⁴x + cos³x) on (0, 11), logit. The best possible
// rate of correct classes is 0.8706.
Labelled simulation_one(Index N, std::uint64_t seed) {
  Random random(seed);
  Labelled out{RowMatrix(N, 1), Vector(N)};
  for (Index i = 0; i < N; ++i) {
    const double x = 11.0 * random.uniform();
    const double f = 3.0 * (std::pow(std::sin(x), 4) + std::pow(std::cos(x), 3));
    out.X(i, 0) = x;
    out.y(i) = random.uniform() < 1.0 / (1.0 + std::exp(-f)) ? 1.0 : 0.0;
  }
  return out;
}

SvgpOptions brief(const char* likelihood, Index M, Index iterations = 30) {
  SvgpOptions o;
  o.likelihood = likelihood;
  o.inducing = M;
  o.training.max_iterations = iterations;
  return o;
}

double value_of(const GeneralisedFit& fit, const std::string& name) {
  for (const auto& [key, value] : fit.diagnostics)
    if (key == name) return value;
  return missing;
}

std::string message(const std::function<void()>& f) {
  try {
    f();
  } catch (const InputError& e) {
    return e.what();
  }
  return "no InputError";
}

// T15: the same parameters, the same bound as the collapsed model, in the units of the data.
TEST(Svgp, T15GaussianBoundIsVfe) {
  const auto data = testing::small_data(120, 2, 1, 3);
  const RowMatrix Y = 40.0 * data.Y.array() + 7.0;
  SvgpOptions o = brief("gaussian", 12);
  o.mean = "constant";
  Svgp model(data.X, Y.col(0), o);
  SparseRegressionOptions s;
  s.mean = "constant";
  s.inducing = 12;
  SparseRegression vfe(data.X, Y, s);
  for (const Parameter& p : vfe.parameters().all()) model.parameters().set(p.path, p.value);
  EXPECT_NEAR(model.elbo(), vfe.evaluate().value, 1e-8 * std::abs(vfe.evaluate().value));
  const GeneralisedFit fit = model.fit();
  EXPECT_GT(fit.value, vfe.evaluate().value);
  EXPECT_EQ(fit.model, "svgp");
  EXPECT_EQ(fit.summary.objective, "elbo");
  EXPECT_NEAR(value_of(fit, "fit") - value_of(fit, "kl"), fit.value, 1e-8 * std::abs(fit.value));
  // The data in other units move the bound by the Jacobian alone.
  Svgp units(data.X, 3.0 * Y.col(0), o);
  EXPECT_NEAR(Svgp(data.X, Y.col(0), o).elbo() - units.elbo(), 120.0 * std::log(3.0), 1e-7);
}

TEST(Svgp, T25ObjectiveGradient) {
  for (const char* l : {"bernoulli(logit)", "gaussian", "heteroscedastic"}) {
    SCOPED_TRACE(l);
    auto data = testing::small_data(40, 2, 1, 5);
    if (std::string(l).starts_with("bern")) data.Y = (data.Y.array() > 0.0).cast<double>();
    SvgpOptions o = brief(l, 5);
    o.mean = "linear";
    o.separate_kernels = true;
    o.q.tolerance = 1e-8;
    Svgp model(data.X, data.Y.col(0), o);
    for (const char* path : {"kernel.variance", "function.1.kernel.variance"})
      if (model.parameters().contains(path))
        model.parameters().set_prior(path, Prior::log_normal(0.3, 0.7));
    const Vector u = model.parameters().flatten();
    NaturalGaussian q = model.prior();
    Jitter jitter;
    Vector g(u.size());
    ASSERT_TRUE(model.objective(u, &g, jitter, q).has_value());
    expect_gradient(
        [&](const Vector& x) {
          NaturalGaussian own = q;
          Jitter j;
          return *model.objective(x, nullptr, j, own);
        },
        g, u);
  }
}

TEST(Svgp, BernoulliClassifiesAsWellAsCanBe) {
  const Labelled train = simulation_one(700, 1), test = simulation_one(4000, 2);
  SvgpOptions o = brief("bernoulli(logit)", 25, 60);
  o.classes = {"no", "yes"};
  Svgp model(train.X, train.y, o);
  const GeneralisedFit fit = model.fit();
  const GeneralisedPrediction p = fit.predict(test.X);
  double right = 0.0;
  for (Index i = 0; i < 4000; ++i)
    right += (p.probabilities(i, 1) > 0.5) == (test.y(i) == 1.0) ? 1.0 : 0.0;
  EXPECT_GT(right / 4000.0, 0.85);
  EXPECT_GT(fit.log_density(test.X, test.y).mean(), -0.375);  // of the truth: −0.3447
  EXPECT_EQ(fit.classes.size(), 2u);
  EXPECT_EQ(fit.output_scaling.scale(0), 1.0);
  // T17: flipped labels, the same bound and 1 − π.
  Svgp flipped(train.X, 1.0 - train.y.array(), o);
  flipped.parameters() = fit.parameters;
  Svgp same(train.X, train.y, o);
  same.parameters() = fit.parameters;
  EXPECT_NEAR(flipped.elbo(), same.elbo(), 1e-7);
  // T18: far from the data nothing is known.
  EXPECT_NEAR(fit.predict(RowMatrix::Constant(1, 1, 500.0)).probabilities(0, 0), 0.5, 1e-6);
}

TEST(Svgp, SeveralLatentFunctions) {
  const auto data = testing::small_data(80, 2, 1, 8);
  Vector y(80);
  for (Index i = 0; i < 80; ++i) y(i) = data.Y(i, 0) < -0.6 ? 0 : data.Y(i, 0) < 0.6 ? 1 : 2;
  for (const char* l : {"softmax(3)", "robust_max(3)"}) {
    SCOPED_TRACE(l);
    SvgpOptions o = brief(l, 10, 2);
    const Index n = std::string(l) == "softmax(3)" ? 40 : 80;  // its integrals are slow
    const GeneralisedFit fit = Svgp(data.X.topRows(n), y.head(n), o).fit();
    const Matrix p = fit.predict(data.X.topRows(n)).probabilities;
    double right = 0.0;
    for (Index i = 0; i < n; ++i) {
      Index k = 0;
      p.row(i).maxCoeff(&k);
      right += static_cast<double>(k) == y(i) ? 1.0 : 0.0;
    }
    EXPECT_GT(right / static_cast<double>(n), 0.85);
  }
}

TEST(Svgp, SeparateKernelsHaveParametersOfTheirOwn) {
  Random random(4);
  RowMatrix X(300, 1);
  Vector y(300);
  for (Index i = 0; i < 300; ++i) {
    X(i, 0) = 6.0 * random.uniform();
    y(i) = std::sin(2.0 * X(i, 0)) + (X(i, 0) < 3.0 ? 0.05 : 0.5) * random.normal();
  }
  SvgpOptions o = brief("heteroscedastic", 15, 40);
  o.separate_kernels = true;
  Svgp model(X, y, o);
  for (const char* path : {"function.0.kernel.variance", "function.1.kernel.lengthscales",
                           "function.1.features.Z", "likelihood.variance"})
    EXPECT_TRUE(model.parameters().contains(path)) << path;
  const GeneralisedFit fit = model.fit();
  EXPECT_NE(fit.parameters.at("function.0.kernel.lengthscales").value(0),
            fit.parameters.at("function.1.kernel.lengthscales").value(0));
  const RowMatrix at = (RowMatrix(2, 1) << 1.5, 4.5).finished();
  const Vector sd = fit.predict(at).variance.cwiseSqrt();
  EXPECT_NEAR(sd(0), 0.05, 0.03);
  EXPECT_NEAR(sd(1), 0.5, 0.15);
}

TEST(Svgp, WeightsCountRowsAndMissingOnesAreLeftOut) {
  const auto data = testing::small_data(60, 2, 1, 9);
  SvgpOptions o = brief("student_t", 10);
  o.scale_inputs = o.scale_outputs = ScaleMode::none;
  o.Z = data.X.topRows(10);
  const Vector y = data.Y.col(0);
  SvgpOptions weighted = o;
  weighted.weights = Vector::Ones(60);
  weighted.weights.head(20).setConstant(2.0);
  RowMatrix X2(80, 2);
  X2 << data.X, data.X.topRows(20);
  Vector y2(80);
  y2 << y, y.head(20);
  Svgp once(data.X, y, weighted), twice(X2, y2, o);
  // starts are scaled to the data, which differ
  twice.parameters() = once.parameters();
  EXPECT_NEAR(once.elbo(), twice.elbo(), 1e-7);
  Vector gaps = y;
  gaps.tail(15).setConstant(missing);
  Svgp gappy(data.X, gaps, o), shorter(data.X.topRows(45), y.head(45), o);
  gappy.parameters() = shorter.parameters();
  EXPECT_EQ(gappy.rows(), 45);
  EXPECT_DOUBLE_EQ(gappy.elbo(), shorter.elbo());
}

TEST(Svgp, ExposuresAreTakenIntoAccount) {
  Random random(6);
  RowMatrix X(200, 1);
  Vector y(200), exposure(200);
  for (Index i = 0; i < 200; ++i) {
    X(i, 0) = 4.0 * random.uniform();
    exposure(i) = 1.0 + 9.0 * random.uniform();
    const double mean = exposure(i) * std::exp(std::sin(2.0 * X(i, 0)));
    double product = random.uniform();
    for (y(i) = 0.0; product > std::exp(-mean); product *= random.uniform()) ++y(i);
  }
  SvgpOptions o = brief("poisson", 12);
  o.aux = exposure;
  const GeneralisedFit fit = Svgp(X, y, o).fit();
  const RowMatrix at = (RowMatrix(2, 1) << 0.8, 2.4).finished();
  const GeneralisedPrediction p = fit.predict(at, Vector::Constant(2, 5.0));
  for (Index i = 0; i < 2; ++i)
    EXPECT_NEAR(p.mean(i) / (5.0 * std::exp(std::sin(2.0 * at(i, 0)))), 1.0, 0.15);
}

// T24, P14 through the model: the batches of a partition average to the whole.
TEST(Svgp, T24BatchesAreUnbiased) {
  const Labelled data = simulation_one(120, 3);
  SvgpOptions o = brief("bernoulli(probit)", 8);
  o.training.batch = 30;
  const Svgp model(data.X, data.y, o);
  const NaturalGaussian q = model.prior();
  const Vector u = model.parameters().flatten();
  Jitter jitter;
  UncollapsedGradient of_q;
  const RowMatrix X = model.input_scaling().apply(data.X), Y = data.y;
  Vector whole(u.size()), mean = Vector::Zero(u.size());
  const double value =
      model.batch_objective(u, MemoryRows(X, Y, Vector()), q, jitter, &whole, of_q);
  double sum = 0.0;
  for (Index b = 0; b < 4; ++b) {
    Vector g(u.size());
    const MemoryRows rows(X.middleRows(30 * b, 30), Y.middleRows(30 * b, 30), Vector());
    sum += 0.25 * model.batch_objective(u, rows, q, jitter, &g, of_q);
    mean += 0.25 * g;
  }
  EXPECT_NEAR(sum, value, 1e-10 * std::abs(value));
  EXPECT_LT((mean - whole).cwiseAbs().maxCoeff(),
            1e-10 * std::max(1.0, whole.cwiseAbs().maxCoeff()));
}

TEST(Svgp, MinibatchesComeNearTheFullOptimum) {
  const Labelled data = simulation_one(800, 5);
  SvgpOptions o = brief("bernoulli(logit)", 15, 60);
  const GeneralisedFit full = Svgp(data.X, data.y, o).fit();
  o.training.batch = 100;
  o.training.steps = 1500;
  Svgp model(data.X, data.y, o);
  const GeneralisedFit batches = model.fit();
  EXPECT_EQ(batches.summary.iterations, 1500);
  EXPECT_GT(batches.value, full.value - 3.0);
  EXPECT_LT(batches.value, full.value + 1.0);
  EXPECT_NE(batches.summary.route.find("minibatches of 100 of 800"), std::string::npos);
  EXPECT_FALSE(batches.summary.trace.empty());
  // The bound reported is the bound of all rows.
  Svgp again(data.X, data.y, brief("bernoulli(logit)", 15));
  again.parameters() = batches.parameters;
  EXPECT_GE(again.elbo(), batches.value - 1e-6);
  EXPECT_NEAR(again.elbo(), batches.value, 0.05);
}

// From the prior, whose rate is 1, to counts of hundreds: whole steps would leap by exp of the
// error.
TEST(Svgp, MinibatchesOfLargeCountsDoNotLeap) {
  Random random(6);
  RowMatrix X(400, 1);
  Vector y(400);
  for (Index i = 0; i < 400; ++i) {
    X(i, 0) = 6.0 * random.uniform();
    y(i) = std::floor(300.0 * std::exp(std::sin(X(i, 0))));
  }
  SvgpOptions o = brief("poisson", 10);
  o.training.batch = 50;
  o.training.steps = 300;
  const GeneralisedFit fit = Svgp(X, y, o).fit();
  const RowMatrix at = (RowMatrix(2, 1) << 1.5, 4.5).finished();
  const Vector mean = fit.predict(at).mean;
  EXPECT_NEAR(mean(0) / (300.0 * std::exp(std::sin(1.5))), 1.0, 0.05);
  EXPECT_NEAR(mean(1) / (300.0 * std::exp(std::sin(4.5))), 1.0, 0.05);
  EXPECT_GT(fit.value, -5000.0);
}

// T26: the same seed, the same bits; the inducing inputs begin as rows of the data.
TEST(Svgp, T26SameSeedSameResult) {
  const Labelled data = simulation_one(200, 7);
  for (const Index batch : {Index{0}, Index{64}}) {
    SvgpOptions o = brief("bernoulli(logit)", 8, 5);
    o.training.batch = batch;
    o.training.steps = 30;
    o.selection = Selection::random;
    Svgp a(data.X, data.y, o), b(data.X, data.y, o);
    const RowMatrix X = a.input_scaling().apply(data.X);
    const Vector Z = a.parameters().at("features.Z").value;
    for (Index i = 0; i < 8; ++i) EXPECT_EQ((X.col(0).array() == Z(i)).count(), 1);
    const GeneralisedFit first = a.fit(), second = b.fit();
    EXPECT_EQ(first.value, second.value);
    EXPECT_EQ(first.parameters.values(), second.parameters.values());
    o.seed = 1;
    EXPECT_NE(Svgp(data.X, data.y, o).fit().value, first.value);
  }
}

TEST(Svgp, MinibatchesHaveTheSameBitsForAnyThreads) {
  const Labelled data = simulation_one(400, 9);
  SvgpOptions o = brief("bernoulli(logit)", 80, 5);
  o.training.batch = 300;
  o.training.steps = 12;
  o.training.natural_ramp = 2;
  o.jitter = 1e-6;
  set_threads(1);
  const GeneralisedFit first = Svgp(data.X, data.y, o).fit();
  for (const int n : {2, 5}) {
    set_threads(n);
    const GeneralisedFit fit = Svgp(data.X, data.y, o).fit();
    EXPECT_EQ(fit.value, first.value);
    EXPECT_EQ(fit.parameters.values(), first.parameters.values());
  }
  set_threads(0);
}

// T23 in values of log p, which do not depend on the machine: the bound over all rows asks for
// twice as many when the rows are doubled, that of a minibatch for as many whatever the rows.
TEST(Svgp, T23WorkFollowsTheRowsThatAreVisited) {
  static std::atomic<Index> asked = 0;
  FormulaSettings settings;
  settings.width = 1e3;  // as many nodes for every row
  const Likelihood counting = formula_likelihood(
      "counting", {{"scale", 1.0}},
      [](double y, double, auto f, auto theta) {
        ++asked;
        const auto z = (y - f) / theta[0];
        return -0.5 * z * z;
      },
      settings);
  struct Work {
    Index all, batch;
  };
  const auto work = [&](Index N) {
    const Labelled data = simulation_one(N, 3);
    SvgpOptions o;
    o.likelihood = counting;
    o.inducing = 6;
    const Svgp model(data.X, data.y, o);
    Work out{};
    asked = 0;
    static_cast<void>(model.elbo());
    out.all = asked;
    const RowMatrix y = data.y.head(32);
    const MemoryRows rows(data.X.topRows(32), y, Vector());
    Jitter jitter;
    UncollapsedGradient of_q;
    Vector gradient;
    asked = 0;
    model.batch_objective(model.parameters().flatten(), rows, model.prior(), jitter, &gradient,
                          of_q);
    out.batch = asked;
    return out;
  };
  const Work one = work(100), two = work(200);
  EXPECT_GT(one.batch, 0);
  EXPECT_EQ(two.batch, one.batch);
  EXPECT_EQ(two.all, 2 * one.all);
}

TEST(Svgp, TheLastSmallerBatchHasItsOwnScale) {
  // 70 rows in batches of 32: 32, 32 and 6, twice.
  const Labelled data = simulation_one(70, 11);
  SvgpOptions o = brief("bernoulli(logit)", 6);
  o.training.batch = 32;
  o.training.epochs = 2;
  Index steps = 0;
  o.training.after_iteration = [&](const TrainingProgress& now) {
    steps += !now.over;
    ASSERT_TRUE(now.adam);
    EXPECT_TRUE(now.state().blocks.front().allFinite());
  };
  const GeneralisedFit fit = Svgp(data.X, data.y, o).fit();
  EXPECT_EQ(steps, 6);
  EXPECT_TRUE(std::isfinite(fit.value));
}

// A look on the way: after the last step it sees what the fit gives.
TEST(Svgp, ALookAtTrainingOnTheWay) {
  const Labelled data = simulation_one(90, 12);
  for (const Index batch : {Index{0}, Index{30}}) {
    SvgpOptions o = brief("bernoulli(logit)", 6, 8);
    o.training.batch = batch;
    o.training.steps = 20;
    o.training.natural_ramp = 2;
    o.training.final_sweeps = 0;
    o.q.tolerance = 1e-9;
    TrainingState last;
    o.training.after_iteration = [&](const TrainingProgress& now) {
      if (!now.over) last = now.state();
    };
    Svgp model(data.X, data.y, o);
    EXPECT_THROW(model.at(last), InputError);
    const GeneralisedFit fit = model.fit(), seen = model.at(last);
    EXPECT_EQ(seen.parameters.values(), fit.parameters.values());
    EXPECT_LT((seen.predict(data.X).probabilities - fit.predict(data.X).probabilities)
                  .cwiseAbs()
                  .maxCoeff(),
              batch ? 1e-15 : 1e-6);
    EXPECT_EQ(seen.summary.iterations, fit.summary.iterations);
    if (batch == 0) {
      EXPECT_NEAR(seen.value, fit.value, 1e-6);
    }
  }
}

TEST(Svgp, AdamMovesOnceInSoManyBatches) {
  const Labelled data = simulation_one(90, 12);
  SvgpOptions o = brief("bernoulli(logit)", 6);
  o.training.batch = 30;
  o.training.steps = 20;
  o.training.natural_ramp = 0;
  o.training.adam_every = 3;
  std::vector<double> lengths;
  Index moves = 0;
  o.training.after_iteration = [&](const TrainingProgress& now) {
    if (now.over) return;
    lengths.push_back(now.adam->u(1));
    moves = now.adam->steps;
  };
  EXPECT_EQ(Svgp(data.X, data.y, o).fit().summary.iterations, 20);
  EXPECT_EQ(moves, 7);  // steps 0, 3, …, 18
  for (std::size_t i = 1; i < lengths.size(); ++i)
    EXPECT_EQ(lengths[i] != lengths[i - 1], i % 3 == 0) << i;
  o.training.adam_every = 0;
  EXPECT_NE(message([&] { Svgp(data.X, data.y, o); }).find("adam_every"), std::string::npos);
}

TEST(Svgp, FormsOfTheCovariance) {
  const Labelled data = simulation_one(150, 13);
  double last = std::numeric_limits<double>::infinity();
  for (const char* form : {"full", "blocks(5)", "diagonal"}) {
    SvgpOptions o = brief("bernoulli(logit)", 10);
    o.covariance = form;
    const double value = Svgp(data.X, data.y, o).elbo();
    EXPECT_LT(value, last) << form;
    last = value;
  }
}

TEST(Svgp, HeldParametersStayAndNothingIsTrainedWhenAskedNotTo) {
  const Labelled data = simulation_one(100, 17);
  for (const Index batch : {Index{0}, Index{25}}) {
    SvgpOptions o = brief("bernoulli(logit)", 6, 5);
    o.training.batch = batch;
    o.training.steps = 20;
    Svgp model(data.X, data.y, o);
    model.parameters().fix("features.Z");
    model.parameters().set("kernel.variance", 3.0);
    model.parameters().fix("kernel.variance");
    const Vector Z = model.parameters().at("features.Z").value;
    const GeneralisedFit fit = model.fit();
    EXPECT_EQ(fit.parameters.at("features.Z").value, Z);
    EXPECT_EQ(fit.parameters.at("kernel.variance").value(0), 3.0);
    EXPECT_NE(fit.parameters.at("kernel.lengthscales").value(0),
              Svgp(data.X, data.y, o).parameters().at("kernel.lengthscales").value(0));
    o.training.max_iterations = 0;
    Svgp still(data.X, data.y, o);
    const double before = still.elbo();
    const GeneralisedFit at = still.fit();
    EXPECT_NEAR(at.value, before, 1e-9);
    EXPECT_EQ(at.summary.iterations, 0);
  }
}

TEST(Svgp, TheCallerMayStopMinibatches) {
  const Labelled data = simulation_one(100, 19);
  SvgpOptions o = brief("bernoulli(logit)", 6);
  o.training.batch = 20;
  o.training.steps = 500;
  Index steps = 0;
  o.training.stop = [&] { return ++steps > 7; };
  const GeneralisedFit fit = Svgp(data.X, data.y, o).fit();
  EXPECT_EQ(fit.summary.iterations, 7);
  EXPECT_FALSE(fit.summary.converged);
  EXPECT_EQ(fit.summary.reason, "stopped by the caller");
}

TEST(Svgp, BadInput) {
  const Labelled data = simulation_one(50, 23);
  const auto make = [&](const std::function<void(SvgpOptions&)>& change) {
    return message([&] {
      SvgpOptions o = brief("bernoulli(logit)", 6);
      change(o);
      Svgp(data.X, data.y, o);
    });
  };
  const auto has = [](const std::string& text, const char* part) {
    return text.find(part) != std::string::npos;
  };
  EXPECT_TRUE(
      has(make([](auto& o) { o.inducing = 51; }), "51 inducing inputs are more than the 50"));
  EXPECT_TRUE(has(make([](auto& o) { o.inducing = -1; }), "inducing is -1"));
  EXPECT_TRUE(has(make([](auto& o) { o.training.batch = 51; }),
                  "51 rows is larger than the data, which have 50"));
  EXPECT_TRUE(has(make([](auto& o) { o.training.batch = -1; }), "batch is -1"));
  EXPECT_TRUE(has(make([](auto& o) { o.training.natural_step = 0.0; }), "natural_step is 0"));
  EXPECT_TRUE(has(make([](auto& o) { o.training.learning_rate.rate = -1.0; }), "rate is -1"));
  EXPECT_TRUE(
      has(make([](auto& o) { o.weights = Vector::Constant(50, -1.0); }), "weight of row 0 is -1"));
  EXPECT_TRUE(has(make([](auto& o) { o.weights = Vector::Zero(50); }), "all weights are zero"));
  EXPECT_TRUE(has(make([](auto& o) { o.weights = Vector::Ones(49); }), "49 entries for 50 rows"));
  EXPECT_TRUE(has(make([](auto& o) { o.classes = {"a"}; }), "1 class names"));
  EXPECT_TRUE(has(make([](auto& o) { o.covariance = "blocks(7)"; }), "blocks(7)"));
  EXPECT_TRUE(has(make([](auto& o) { o.Z = RowMatrix::Zero(3, 2); }), "2 columns, X has 1"));
  EXPECT_TRUE(has(message([&] { Svgp(data.X, Vector::Ones(50), brief("bernoulli(logit)", 5)); }),
                  "every observed target is of class 1"));
  EXPECT_TRUE(has(message([&] { Svgp(data.X, data.y.head(49), brief("bernoulli(logit)", 5)); }),
                  "X has 50 rows"));
  EXPECT_THROW(Svgp(data.X, 2.0 * data.y, brief("bernoulli(logit)", 5)), InputError);
}

}  // namespace
}  // namespace covary
