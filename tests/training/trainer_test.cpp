#include "covary/training/trainer.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "covary/error.hpp"
#include "covary/random/random.hpp"
#include "functions.hpp"

namespace covary {
namespace {

using Function = std::function<std::optional<double>(const Vector&, Vector*)>;

// Minus a function of free parameters, as a model gives it.
struct Model {
  Parameters parameters;
  Jitter jitter;
  Function function;

  Model(Function f, const Vector& start) : function(std::move(f)) {
    parameters.add({"x", start, Transform::real(), start.size()});
  }
  Problem problem() {
    return {&parameters, &jitter, [this](ConstVector u, Vector* bar) -> std::optional<double> {
              Vector g = Vector::Zero(u.size());
              const auto value = function(u, &g);
              if (!value) return std::nullopt;
              if (bar) *bar = -g;
              return -*value;
            }};
  }
};

// Local minima near every multiple of 2π; the lowest, −10, is at zero. Fails beyond 30.
std::optional<double> washboard(const Vector& u, Vector* gradient) {
  if (std::abs(u[0]) > 30.0) return std::nullopt;
  (*gradient)[0] = 10.0 * std::sin(u[0]) + 0.02 * u[0];
  return -10.0 * std::cos(u[0]) + 0.01 * u[0] * u[0];
}

Vector at(double x) { return Vector::Constant(1, x); }

Minimum best_of(const Function& f, const Vector& start, Index starts,
                const std::function<Vector(Index)>& other, TrainingOptions options = {},
                TrainingState resume = {}) {
  Model model(f, start);
  return Trainer(std::move(options), std::move(resume))
      .minimise_from(model.problem(), starts, other);
}

Minimum alone(const Function& f, const Vector& start) {
  return minimise([&](const Vector& u, Vector* g) { return f(u, g); }, start);
}

TEST(Trainer, TheBestOfSeveralStartsIsKept) {
  const std::vector<double> starts{25.0, 13.0, 0.7, -6.0};
  std::vector<Index> asked;
  const Minimum m = best_of(washboard, at(starts[0]), 4, [&](Index r) {
    asked.push_back(r);
    return at(starts[static_cast<std::size_t>(r)]);
  });
  EXPECT_EQ(asked, (std::vector<Index>{1, 2, 3}));
  EXPECT_NEAR(m.state.u[0], 0.0, 1e-6);
  EXPECT_NEAR(m.summary.value, -10.0, 1e-10);
  EXPECT_EQ(m.summary.best_start, 2);
  ASSERT_EQ(m.summary.starts.size(), 4u);
  Index evaluations = 0;
  for (std::size_t r = 0; r < 4; ++r) {
    // Each row is the run from that start alone.
    const Minimum one = alone(washboard, at(starts[r]));
    EXPECT_EQ(m.summary.starts[r].value, one.state.value);
    EXPECT_EQ(m.summary.starts[r].iterations, one.state.iterations);
    EXPECT_EQ(m.summary.starts[r].reason, one.summary.reason);
    EXPECT_TRUE(m.summary.starts[r].converged);
    evaluations += one.state.evaluations;
  }
  EXPECT_EQ(m.summary.evaluations, evaluations);
  EXPECT_EQ(m.summary.stop, Stop::converged);
}

TEST(Trainer, StartsAreReproducibleFromStreams) {
  const auto run = [] {
    return best_of(washboard, at(20.0), 6, [](Index r) {
      return at(10.0 * Random(5, static_cast<std::uint64_t>(r)).normal());
    });
  };
  const Minimum a = run(), b = run();
  EXPECT_EQ(a.state.u[0], b.state.u[0]);
  for (std::size_t r = 0; r < 6; ++r)
    EXPECT_EQ(a.summary.starts[r].value, b.summary.starts[r].value);
}

TEST(Trainer, FailedStartsAreReported) {
  const Minimum m =
      best_of(washboard, at(99.0), 3, [](Index r) { return at(r == 1 ? 6.0 : -50.0); });
  EXPECT_EQ(m.summary.best_start, 1);
  EXPECT_FALSE(m.summary.starts[0].value.has_value());
  EXPECT_TRUE(m.summary.starts[1].value.has_value());
  EXPECT_FALSE(m.summary.starts[2].value.has_value());
  EXPECT_NE(m.summary.starts[2].reason.find("at the start"), std::string::npos);
  EXPECT_GE(m.summary.rejected_evaluations, 2);
  EXPECT_NE(m.summary.full().find("failed"), std::string::npos);
}

TEST(Trainer, ErrorWhenAllStartsFail) {
  try {
    best_of(washboard, at(99.0), 2, [](Index) { return at(-99.0); });
    FAIL();
  } catch (const NumericalError& e) {
    const std::string text = e.what();
    EXPECT_NE(text.find("all 2 starts failed"), std::string::npos) << text;
    EXPECT_NE(text.find("start 0:"), std::string::npos) << text;
    EXPECT_NE(text.find("start 1:"), std::string::npos) << text;
  }
}

TEST(Trainer, OfEqualValuesTheFirstIsKept) {
  EXPECT_EQ(best_of(washboard, at(2.0), 3, [](Index) { return at(2.0); }).summary.best_start, 0);
}

TEST(Trainer, OneStartIsAPlainRun) {
  const Minimum m = best_of(washboard, at(5.0), 1, nullptr);
  EXPECT_EQ(m.state.u[0], alone(washboard, at(5.0)).state.u[0]);
  EXPECT_TRUE(m.summary.starts.empty());
}

// Asked between evaluations, it ends an iteration that is under way at the point before it.
TEST(Trainer, TheCallerStopsAllStartsWithinAnIteration) {
  TrainingOptions options;
  int evaluations = 0;
  options.stop = [&] { return evaluations >= 12; };
  const Minimum m = best_of(
      [&](const Vector& u, Vector* g) {
        ++evaluations;
        return testing::rosenbrock(u, g);
      },
      testing::rosenbrock_start(4), 3, [](Index) { return testing::rosenbrock_start(4); }, options);
  EXPECT_EQ(evaluations, 12);
  EXPECT_EQ(m.summary.starts.size(), 1u);
  EXPECT_EQ(m.summary.reason, "stopped by the caller");
  EXPECT_EQ(m.summary.stop, Stop::caller);
  EXPECT_EQ(m.summary.value, m.summary.trace.back().value);
}

TEST(Trainer, TheTimeLimitIsForAllTogether) {
  TrainingOptions options;
  options.max_seconds = 1e-9;
  const Minimum m = best_of(
      washboard, at(5.0), 3, [](Index) { return at(1.0); }, options);
  EXPECT_EQ(m.summary.best_start, 0);
  EXPECT_EQ(m.summary.stop, Stop::seconds);
  ASSERT_EQ(m.summary.starts.size(), 3u);
  EXPECT_NE(m.summary.starts[2].reason.find("not run"), std::string::npos);
}

// A training of several parts and starts, stopped after any iteration and continued from its state,
// ends with the same bits; work that is over is not done again.
TEST(Trainer, ContinuedFromAnyStateWithTheSameBits) {
  int worked = 0;
  const auto train = [&](TrainingOptions options, TrainingState resume) {
    Model model(testing::rosenbrock, testing::rosenbrock_start(4));
    Trainer trainer(std::move(options), std::move(resume));
    const Parameters given = model.parameters;
    const auto found = trainer.once("work", [&]() -> Trainer::Found {
      ++worked;
      trainer.minimise(model.problem(), {.max_iterations = 5});
      trainer.minimise(model.problem(), {.max_iterations = 3});
      return {{model.parameters.values()}, "a note"};
    });
    EXPECT_EQ(found.note, "a note");
    model.parameters.set_values(found.blocks[0].reshaped());
    trainer.minimise(model.problem(), {.max_iterations = 4});
    return trainer.minimise_from(model.problem(), 3, [&](Index r) {
      return Vector(model.parameters.flatten() * (1.0 + 0.3 * static_cast<double>(r)));
    });
  };
  TrainingOptions options;
  std::vector<TrainingState> states;
  options.after_iteration = [&](const TrainingProgress& now) { states.push_back(now.state()); };
  const Minimum whole = train(options, {});
  options.after_iteration = nullptr;
  ASSERT_GT(states.size(), 30u);
  EXPECT_EQ(worked, 1);
  for (std::size_t i = 0; i < states.size(); i += 5) {
    SCOPED_TRACE(i);
    worked = 0;
    const Minimum m = train(options, states[i]);
    EXPECT_EQ(m.state.u, whole.state.u);
    EXPECT_EQ(m.summary.value, whole.summary.value);
    EXPECT_EQ(m.summary.best_start, whole.summary.best_start);
    EXPECT_EQ(m.summary.evaluations, whole.summary.evaluations);
    EXPECT_EQ(m.summary.trace.size(), whole.summary.trace.size());
    ASSERT_EQ(m.summary.starts.size(), 3u);
    for (std::size_t r = 0; r < 3; ++r) {
      EXPECT_EQ(m.summary.starts[r].value, whole.summary.starts[r].value);
      EXPECT_EQ(m.summary.starts[r].reason, whole.summary.starts[r].reason);
    }
    EXPECT_EQ(worked, states[i].done.empty() || states[i].done[0].work.empty() ? 1 : 0);
  }
  Model wrong(washboard, at(1.0));
  TrainingState last = states.back();
  last.done.clear();
  if (!last.run) last.run = states[states.size() - 2].run;
  ASSERT_TRUE(last.run);
  EXPECT_THROW(Trainer({}, last).minimise(wrong.problem()), InputError);
}

// Some parameters held, the rest trained; what follows goes on from there, and tells of both.
TEST(Trainer, PartsWithSomeHeld) {
  Model model(testing::rosenbrock, testing::rosenbrock_start(4));
  Parameters two;
  two.add({"a", Vector(testing::rosenbrock_start(4).head(2)), Transform::real(), 2});
  two.add({"b", Vector(testing::rosenbrock_start(4).tail(2)), Transform::real(), 2});
  model.parameters = two;
  model.parameters.set_prior("b", Prior::normal(0.0, 10.0));
  Trainer trainer({});
  const auto b = [](const std::string& path) { return path == "b"; };
  const auto first = trainer.minimise_held(model.problem(), b, {.max_iterations = 6});
  ASSERT_TRUE(first);
  EXPECT_NE(model.parameters.at("a").value, two.at("a").value);
  EXPECT_EQ(model.parameters.at("b").value, two.at("b").value);
  EXPECT_TRUE(model.parameters.at("b").trainable);
  const Minimum all = trainer.minimise(model.problem(), {.before = first->summary});
  EXPECT_NE(model.parameters.at("b").value, two.at("b").value);
  EXPECT_EQ(all.summary.initial_value, first->summary.initial_value);
  EXPECT_EQ(all.summary.iterations, static_cast<Index>(all.summary.trace.size()) - 1);
  EXPECT_EQ(all.summary.trace.back().iteration, all.summary.iterations);
  for (std::size_t i = 1; i < all.summary.trace.size(); ++i)
    EXPECT_LE(all.summary.trace[i].value, all.summary.trace[i - 1].value);
  Summary told = all.summary;
  trainer.complete(told);
  EXPECT_EQ(told.evaluations, all.summary.evaluations);
  EXPECT_EQ(told.reason, all.summary.reason);

  // Nothing is free; or the part fails: flags are as they were.
  model.parameters.fix("a");
  EXPECT_FALSE(trainer.minimise_held(model.problem(), b, {}));
  EXPECT_TRUE(model.parameters.at("b").trainable);
  EXPECT_FALSE(model.parameters.at("a").trainable);
  model.parameters.unfix("a");
  model.function = [](const Vector&, Vector*) { return std::nullopt; };
  EXPECT_THROW(trainer.minimise_held(model.problem(), b, {}), NumericalError);
  EXPECT_TRUE(model.parameters.at("b").trainable);
}

TEST(Trainer, WhereNothingIsTrainedTheSummarySaysSo) {
  Summary summary;
  summary.value = 3.0;
  Trainer({}).complete(summary);
  EXPECT_EQ(summary.stop, Stop::evaluated);
  EXPECT_EQ(summary.reason, "evaluated at the given parameters");
  EXPECT_EQ(summary.initial_value, 3.0);
  EXPECT_EQ(summary.evaluations, 1);
}

// Work that raised the jitter, and what it cost, is known when training goes on beyond it.
TEST(Trainer, WorkKeepsItsJitterAndItsCost) {
  TrainingState state;
  const auto train = [&](TrainingState resume) {
    Model model(testing::rosenbrock, testing::rosenbrock_start(4));
    TrainingOptions options;
    options.after_iteration = [&](const TrainingProgress& now) { state = now.state(); };
    Trainer trainer(options, std::move(resume));
    const auto work = [&]() -> Trainer::Found {
      trainer.minimise(model.problem(), {.max_iterations = 5});
      model.jitter.rung = 2;
      return {{model.parameters.values()}};
    };
    model.parameters.set_values(trainer.once("work", work, &model.jitter).blocks[0].reshaped());
    EXPECT_EQ(model.jitter.rung, 2);
    Summary summary = trainer.minimise(model.problem()).summary;
    trainer.complete(summary);
    return summary;
  };
  const Summary whole = train({});
  const Summary resumed = train(TrainingState(state));
  EXPECT_EQ(resumed.evaluations, whole.evaluations);
  EXPECT_EQ(resumed.rejected_evaluations, whole.rejected_evaluations);
  EXPECT_EQ(resumed.value, whole.value);
}

// A limit of iterations may be raised when training is resumed.
TEST(Trainer, AHigherLimitGoesOn) {
  TrainingOptions options;
  options.max_iterations = 6;
  TrainingState last;
  options.after_iteration = [&](const TrainingProgress& now) { last = now.state(); };
  const auto none = std::function<Vector(Index)>();
  const Minimum part = best_of(testing::rosenbrock, testing::rosenbrock_start(4), 1, none, options);
  EXPECT_EQ(part.summary.stop, Stop::iterations);
  const Minimum rest =
      best_of(testing::rosenbrock, testing::rosenbrock_start(4), 1, none, {}, last);
  const Minimum whole = best_of(testing::rosenbrock, testing::rosenbrock_start(4), 1, none);
  EXPECT_EQ(rest.state.u, whole.state.u);
  EXPECT_EQ(rest.summary.iterations, whole.summary.iterations);
}

TEST(Trainer, NothingToTrainIsEvaluated) {
  Model model(washboard, at(1.0));
  TrainingOptions options;
  options.max_iterations = 0;
  const Minimum m = Trainer(options).minimise_from(model.problem(), 3, nullptr);
  EXPECT_EQ(m.summary.stop, Stop::evaluated);
  EXPECT_EQ(m.summary.evaluations, 1);
  EXPECT_EQ(model.parameters.values(), at(1.0));
  model.parameters.fix("x");
  EXPECT_TRUE(Trainer({}).minimise(model.problem()).summary.converged);
}

TEST(Trainer, BadArguments) {
  EXPECT_THROW(best_of(washboard, at(1.0), 0, nullptr), InputError);
  EXPECT_THROW(best_of(washboard, at(1.0), 2, nullptr), InputError);
  for (const auto& spoil :
       {+[](TrainingOptions& o) { o.starts = -1; }, +[](TrainingOptions& o) { o.batch = -1; },
        +[](TrainingOptions& o) { o.natural_step = 2.0; },
        +[](TrainingOptions& o) { o.learning_rate.rate = -1.0; },
        +[](TrainingOptions& o) { o.max_seconds = 0.0; }}) {
    TrainingOptions options;
    spoil(options);
    EXPECT_THROW(Trainer{options}, InputError);
  }
}

// Minibatches of a quadratic with noise in value and gradient; the natural block is a running mean.
struct Noisy {
  Parameters parameters;
  Jitter jitter;
  Matrix block = Matrix::Zero(1, 1), best = block;
  Vector centre = Vector::LinSpaced(5, -1.0, 1.0), curvature = Vector::Ones(5);
  double noise = 0.1;
  double edge = -std::numeric_limits<double>::infinity();  // beyond it the objective leaps

  explicit Noisy(const Vector& start) {
    parameters.add({"x", start, Transform::real(), start.size()});
    if (start.size() != centre.size()) centre = Vector::Zero(start.size());
    curvature.resize(start.size());
    curvature.setOnes();
  }
  MinibatchProblem problem() {
    MinibatchProblem p;
    p.parameters = &parameters;
    p.jitter = &jitter;
    p.batches_per_pass = 10;
    p.usual_passes = 20;
    p.usual_rate = 0.02;
    p.step = [this](const Vector& u, const MinibatchStep& step,
                    Vector* gradient) -> std::optional<double> {
      Random random(1, static_cast<std::uint64_t>(step.number));
      block.array() += step.natural_step * (u.sum() - block(0, 0));
      const Vector slope = curvature.cwiseProduct(u - centre);
      if (gradient) *gradient = slope + noise * random.normal_vector(u.size());
      if (u(0) < edge) return 100.0;
      return 0.5 * slope.dot(u - centre) + noise * random.normal();
    };
    p.blocks = [this] { return Blocks{block}; };
    p.set_blocks = [this](const Blocks& b) { block = b.at(0); };
    p.keep_best = [this] { best = block; };
    p.go_to_best = [this] { block = best; };
    p.best_blocks = [this] { return Blocks{best}; };
    p.set_best_blocks = [this](const Blocks& b) { best = b.at(0); };
    return p;
  }
};

TEST(Trainer, MinibatchesFindTheMinimumOfANoisyQuadratic) {
  Noisy noisy(Vector::Zero(5));
  noisy.curvature = testing::Quadratic(5, 10.0).h;
  noisy.noise = 1.0;
  TrainingOptions options;
  options.steps = 4000;
  options.learning_rate = {0.05, LearningRate::Schedule::cosine, 1e-3, 0};
  const Minimum m = Trainer(options).minimise(noisy.problem());
  EXPECT_LT((m.state.u - noisy.centre).cwiseAbs().maxCoeff(), 0.05);
  EXPECT_TRUE(m.summary.warnings.empty());
  EXPECT_EQ(m.summary.iterations, 4000);
  EXPECT_EQ(m.summary.stop, Stop::steps);
  EXPECT_TRUE(m.summary.converged);
  EXPECT_EQ(noisy.parameters.values(), m.state.u);
}

TEST(Trainer, MinibatchesGoOnWithTheSameBits) {
  TrainingOptions options;
  options.steps = 90;
  options.natural_ramp = 10;
  std::vector<TrainingState> states;
  options.after_iteration = [&](const TrainingProgress& now) { states.push_back(now.state()); };
  Noisy one(Vector::Ones(5));
  const Minimum whole = Trainer(options).minimise(one.problem());
  options.after_iteration = nullptr;
  ASSERT_EQ(states.size(), 91u);  // and once at the end
  for (const std::size_t i : {std::size_t{0}, std::size_t{7}, std::size_t{60}, std::size_t{90}}) {
    Noisy other(Vector::Ones(5));
    const Minimum m = Trainer(options, states[i]).minimise(other.problem());
    EXPECT_EQ(m.state.u, whole.state.u);
    EXPECT_EQ(other.block, one.block);
    EXPECT_EQ(m.summary.trace.size(), whole.summary.trace.size());
    EXPECT_EQ(m.summary.reason, whole.summary.reason);
  }
  Noisy small(Vector::Ones(2));
  EXPECT_THROW(Trainer(options, states[40]).minimise(small.problem()), InputError);
}

// One start after another, stopped in any of them: the ones that are over are not made again.
TEST(Trainer, StartsByMinibatchesGoOnWithTheSameBits) {
  TrainingOptions options;
  options.steps = 60;
  options.natural_ramp = 5;
  const auto train = [&](TrainingState resume, Noisy& noisy) {
    Trainer trainer(options, std::move(resume));
    Matrix kept;
    Minimum best = trainer.best_of(
        0, 3,
        [&](Index start) {
          noisy.parameters.set("x", static_cast<double>(2 - start));
          noisy.block.setZero();
          return trainer.minimise(noisy.problem());
        },
        [&] { kept = noisy.block; });
    noisy.block = kept;
    trainer.complete(best.summary);
    return best;
  };
  std::vector<TrainingState> states;
  options.after_iteration = [&](const TrainingProgress& now) { states.push_back(now.state()); };
  Noisy one(Vector::Ones(5));
  const Minimum whole = train({}, one);
  options.after_iteration = nullptr;
  ASSERT_EQ(states.size(), 3u * 61u);
  EXPECT_EQ(whole.summary.starts.size(), 3u);
  EXPECT_EQ(whole.summary.best_start, 2);
  EXPECT_EQ(whole.summary.evaluations, 180);
  for (std::size_t i = 0; i < states.size(); i += 13) {
    SCOPED_TRACE(i);
    EXPECT_EQ(states[i].done.size(), i / 61);
    Noisy other(Vector::Ones(5));
    const Minimum m = train(states[i], other);
    EXPECT_EQ(m.state.u, whole.state.u);
    EXPECT_EQ(other.block, one.block);
    EXPECT_EQ(m.summary.evaluations, whole.summary.evaluations);
    for (std::size_t r = 0; r < 3; ++r)
      EXPECT_EQ(m.summary.starts[r].value, whole.summary.starts[r].value);
  }
  // Over all rows it is another training.
  Model model(testing::rosenbrock, testing::rosenbrock_start(5));
  EXPECT_THROW(Trainer({}, states.back()).minimise(model.problem()), InputError);
}

// A valley with an edge: beyond u = 0 the objective leaps, as a bound does when its parameters run
// away.
TEST(Trainer, DivergenceIsSeenAndTakenBack) {
  Noisy noisy(Vector::Ones(1));
  noisy.edge = 0.0;
  noisy.centre = Vector::Constant(1, -3.0);
  TrainingOptions options;
  options.steps = 600;
  options.natural_ramp = 0;
  options.learning_rate = {0.01, LearningRate::Schedule::constant, 0.1, 0};
  AdamState last;
  options.after_iteration = [&](const TrainingProgress& now) {
    if (now.adam) last = *now.adam;
  };
  const Minimum m = Trainer(options).minimise(noisy.problem());
  EXPECT_GE(last.rollbacks, 1);
  EXPECT_LT(last.factor, 1.0);
  EXPECT_GT(last.best_u(0), noisy.edge);
  EXPECT_GT(m.state.u(0), noisy.edge);
  ASSERT_EQ(m.summary.warnings.size(), 1u);
  EXPECT_NE(m.summary.warnings[0].find("taken back"), std::string::npos);
}

}  // namespace
}  // namespace covary
