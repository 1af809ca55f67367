#include "covary/training/lbfgs.hpp"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

#include "covary/error.hpp"
#include "covary/random/random.hpp"
#include "functions.hpp"

namespace covary {
namespace {

using testing::Quadratic;
using testing::rosenbrock;
using testing::rosenbrock_start;

const double nan = std::numeric_limits<double>::quiet_NaN();

bool same_bits(const Vector& a, const Vector& b) {
  if (a.size() != b.size()) return false;
  for (Index i = 0; i < a.size(); ++i)
    if (std::bit_cast<std::uint64_t>(a[i]) != std::bit_cast<std::uint64_t>(b[i])) return false;
  return true;
}

TEST(Lbfgs, Quadratics) {
  LbfgsOptions options;
  options.function_tolerance = 0.0;
  for (Index n : {1, 2, 10, 100}) {
    for (double condition : {1.0, 1e2, 1e4}) {
      Quadratic f(n, condition);
      f.offset = -3.0;
      const Minimum m = minimise(f, Vector::Constant(n, 4.0), options);
      EXPECT_TRUE(m.summary.converged) << m.summary.brief();
      EXPECT_LE(m.summary.gradient_norm, 3e-6) << m.summary.brief();
      EXPECT_NEAR(m.state.value, -3.0, 1e-10);
      EXPECT_LT((m.state.u - f.centre).cwiseAbs().maxCoeff(), 3e-6);
    }
  }
}

// The memory holds more pairs than there are parameters, as it does for most kernels.
TEST(Lbfgs, BadlyScaledQuadratic) {
  Quadratic f(10, 1e8);
  LbfgsOptions options;
  options.function_tolerance = 0.0;
  const Minimum m = minimise(f, Vector::Constant(10, 4.0), options);
  EXPECT_TRUE(m.summary.converged) << m.summary.brief();
  EXPECT_LT((m.state.u - f.centre).cwiseAbs().maxCoeff(), 1e-6);
  EXPECT_LT(m.state.evaluations, 300);
}

// Sixty entries whose curvatures differ by 1e8: known beforehand, next to nothing is left to learn;
// with the units of two blocks wrong by another 1e6 their scales are found.
TEST(Lbfgs, MetricAndBlocks) {
  const Index n = 60;
  const Vector curvature = Vector::LinSpaced(n, 0.0, 8.0 * std::log(10.0)).array().exp().reverse();
  Vector units = Vector::Ones(n);
  units.tail(n / 2).setConstant(1e6);
  const Objective f = [&](const Vector& u, Vector* gradient) -> std::optional<double> {
    const Vector x = u.cwiseQuotient(units), slope = curvature.cwiseProduct(x);
    if (gradient) *gradient = slope.cwiseQuotient(units);
    return 0.5 * x.dot(slope);
  };
  const Vector start = units;
  LbfgsOptions plain;
  plain.function_tolerance = 0.0;
  plain.gradient_tolerance = 1e-9;
  plain.max_iterations = 100;
  LbfgsOptions known = plain;
  known.metric = [&](const Vector&, const Matrix& r) {
    return Matrix(curvature.cwiseInverse().asDiagonal() * r);
  };
  known.blocks = {0, n / 2};
  const Minimum without = minimise(f, start, plain), with = minimise(f, start, known);
  EXPECT_TRUE(with.summary.converged) << with.summary.brief();
  EXPECT_LT(with.state.iterations, 30);
  EXPECT_LT(with.state.value, 1e-6);
  EXPECT_GT(without.state.value, 1e3 * with.state.value);
  known.blocks = {0, 3, 3};
  EXPECT_THROW(minimise(f, start, known), InputError);
}

TEST(Lbfgs, Rosenbrock) {
  for (Index n : {2, 3, 10, 50}) {
    const Minimum m = minimise(rosenbrock, rosenbrock_start(n));
    EXPECT_TRUE(m.summary.converged) << m.summary.brief();
    // In ten dimensions and more a local minimum with value 3.99 exists; this start avoids it.
    EXPECT_LT(m.state.value, 1e-10) << n;
    EXPECT_LT((m.state.u - Vector::Ones(n)).norm(), 1e-5) << n;
    EXPECT_LT(m.state.evaluations, n < 10 ? 80 : 600) << m.summary.brief();
    EXPECT_EQ(m.state.rejected_evaluations, 0);
  }
}

TEST(Lbfgs, UnitsOfTheObjectiveDoNotMatter) {
  for (double unit : {1e-3, 1e6}) {
    const Objective f = [&](const Vector& u, Vector* g) -> std::optional<double> {
      const double value = *rosenbrock(u, g);
      *g *= unit;
      return unit * value;
    };
    LbfgsOptions options;
    options.gradient_tolerance = 1e-9;
    const Minimum m = minimise(f, rosenbrock_start(2), options);
    EXPECT_LT((m.state.u - Vector::Ones(2)).norm(), 1e-3) << unit << m.summary.brief();
  }
}

// −Σ log u_i + Σ c_i u_i, whose minimum is at 1/c; not a number where any u_i ≤ 0.
TEST(Lbfgs, NotANumberInPartOfTheSpaceIsARejectedStep) {
  Vector c(3);
  c << 0.01, 1.0, 300.0;
  enum Failure { value_is_nan, gradient_is_nan, nothing, throws };
  for (Failure failure : {value_is_nan, gradient_is_nan, nothing, throws}) {
    const Objective f = [&](const Vector& u, Vector* g) -> std::optional<double> {
      if (u.minCoeff() <= 0.0) {
        if (failure == throws) throw NumericalError("the matrix is not positive definite");
        if (failure == nothing) return std::nullopt;
        g->setConstant(failure == gradient_is_nan ? nan : 0.0);
        return failure == value_is_nan ? nan : -1e9;
      }
      *g = (c.array() - 1.0 / u.array()).matrix();
      return -u.array().log().sum() + c.dot(u);
    };
    LbfgsOptions options;
    options.gradient_tolerance = 1e-9;
    options.function_tolerance = 0.0;
    const Minimum m = minimise(f, Vector::Ones(3), options);
    EXPECT_TRUE(m.summary.converged) << m.summary.brief();
    EXPECT_GT(m.state.rejected_evaluations, 0);
    EXPECT_LT(m.state.rejected_evaluations, m.state.evaluations / 2);
    for (Index i = 0; i < 3; ++i) EXPECT_NEAR(m.state.u[i] * c[i], 1.0, 1e-5) << failure;
  }
}

TEST(Lbfgs, OtherExceptionsPassThrough) {
  const Objective f = [](const Vector&, Vector*) -> std::optional<double> {
    throw Unsupported("not this one");
  };
  EXPECT_THROW(minimise(f, Vector::Ones(2)), Unsupported);
}

// Rounding-like noise in value and gradient, a function of u alone.
TEST(Lbfgs, NoiseNearTheOptimum) {
  for (double noise : {1e-14, 1e-12, 1e-11, 1e-9, 1e-7}) {
    const Objective f = [&](const Vector& u, Vector* g) -> std::optional<double> {
      const double value = 1000.0 + *rosenbrock(u, g);
      std::uint64_t key = 0;
      for (Index i = 0; i < u.size(); ++i) key = key * 31 + std::bit_cast<std::uint64_t>(u[i]);
      Random random(key);
      *g += 1000.0 * noise * random.normal_vector(u.size());
      return value + 1000.0 * noise * random.normal();
    };
    LbfgsOptions options;
    options.gradient_tolerance = 0.0;  // never met: the run ends by its other tests
    const Minimum m = minimise(f, rosenbrock_start(4), options);
    EXPECT_LT(m.state.value - 1000.0, 1e-6 + 1e5 * noise) << noise << " " << m.summary.brief();
    EXPECT_LT(m.state.evaluations, 400) << noise << " " << m.summary.brief();
    // Convergence is claimed for noise within what was announced …
    if (noise < 1e-10) {
      EXPECT_TRUE(m.summary.converged) << noise << " " << m.summary.brief();
    }
    // … which may be any.
    options.relative_noise = 10.0 * noise;
    const Minimum told = minimise(f, rosenbrock_start(4), options);
    EXPECT_TRUE(told.summary.converged) << noise << " " << told.summary.brief();
    EXPECT_LT(told.state.value - 1000.0, 1e-6 + 1e5 * noise) << told.summary.brief();
  }
}

TEST(Lbfgs, StartAtTheOptimum) {
  const Minimum m = minimise(rosenbrock, Vector::Ones(5));
  EXPECT_TRUE(m.summary.converged);
  EXPECT_EQ(m.state.iterations, 0);
  EXPECT_EQ(m.state.evaluations, 1);
  EXPECT_EQ(m.summary.trace.size(), 1u);
  EXPECT_NE(m.summary.reason.find("gradient"), std::string::npos);
}

TEST(Lbfgs, NothingToTrain) {
  const Objective f = [](const Vector&, Vector*) { return std::optional<double>(2.5); };
  const Minimum m = minimise(f, Vector());
  EXPECT_TRUE(m.summary.converged);
  EXPECT_EQ(m.state.value, 2.5);
}

TEST(Lbfgs, FlatAndUnboundedObjectivesEnd) {
  // Falls for ever: never a claim of convergence.
  const Objective line = [](const Vector& u, Vector* g) -> std::optional<double> {
    g->setOnes();
    return u.sum();
  };
  const Minimum m = minimise(line, Vector::Zero(2));
  EXPECT_FALSE(m.summary.converged) << m.summary.brief();
  EXPECT_TRUE(m.state.u.allFinite());
  // A gradient of the wrong sign finds no lower point and says so.
  const Objective wrong = [](const Vector& u, Vector* g) -> std::optional<double> {
    *g = -u;
    return 0.5 * u.squaredNorm();
  };
  const Minimum w = minimise(wrong, Vector::Ones(2));
  EXPECT_FALSE(w.summary.converged);
  EXPECT_NE(w.summary.reason.find("no lower point"), std::string::npos) << w.summary.brief();
  EXPECT_TRUE(same_bits(w.state.u, Vector::Ones(2)));
}

TEST(Lbfgs, InfeasibleStartIsExplained) {
  const Objective f = [](const Vector&, Vector*) -> std::optional<double> {
    throw NumericalError("Kff is not positive definite");
  };
  try {
    minimise(f, Vector::Ones(2));
    FAIL();
  } catch (const NumericalError& e) {
    EXPECT_NE(std::string(e.what()).find("at the start"), std::string::npos);
    EXPECT_NE(std::string(e.what()).find("Kff is not positive definite"), std::string::npos);
  }
  const Objective n = [](const Vector&, Vector*) { return std::optional<double>(nan); };
  EXPECT_THROW(minimise(n, Vector::Ones(2)), NumericalError);
  Vector start(2);
  start << 0.0, nan;
  EXPECT_THROW(minimise(rosenbrock, start), InputError);
  const Objective wrong_size = [](const Vector&, Vector* g) {
    *g = Vector::Ones(3);
    return std::optional<double>(1.0);
  };
  EXPECT_THROW(minimise(wrong_size, Vector::Ones(2)), InputError);
}

TEST(Lbfgs, ResumedFromAnyIterationGivesTheSameBits) {
  std::vector<LbfgsState> states;
  Lbfgs whole(rosenbrock, rosenbrock_start(6));
  states.push_back(whole.state());
  while (whole.step()) states.push_back(whole.state());
  ASSERT_GT(states.size(), 15u);
  for (std::size_t k = 0; k < states.size(); ++k) {
    Lbfgs resumed(rosenbrock, states[k]);
    for (std::size_t j = k + 1; j < states.size(); ++j) {
      ASSERT_TRUE(resumed.step()) << k << " " << j;
      ASSERT_TRUE(same_bits(resumed.state().u, states[j].u)) << k << " " << j;
      ASSERT_EQ(resumed.state().value, states[j].value);
      ASSERT_TRUE(same_bits(resumed.state().gradient, states[j].gradient));
      ASSERT_EQ(resumed.state().evaluations, states[j].evaluations);
      ASSERT_EQ(resumed.state().recent_values, states[j].recent_values);
    }
    EXPECT_FALSE(resumed.step());
    EXPECT_EQ(resumed.reason(), whole.reason());
  }
}

TEST(Lbfgs, ABrokenStateIsRefused) {
  Lbfgs run(rosenbrock, rosenbrock_start(4));
  run.step();
  LbfgsState state = run.state();
  state.y.pop_back();
  EXPECT_THROW(Lbfgs(rosenbrock, state), InputError);
  state = run.state();
  state.s[0] = Vector::Ones(3);
  EXPECT_THROW(Lbfgs(rosenbrock, state), InputError);
  state = run.state();
  state.gradient[1] = nan;
  EXPECT_THROW(Lbfgs(rosenbrock, state), InputError);
}

TEST(Lbfgs, Limits) {
  LbfgsOptions options;
  options.max_iterations = 7;
  Minimum m = minimise(rosenbrock, rosenbrock_start(10), options);
  EXPECT_EQ(m.state.iterations, 7);
  EXPECT_FALSE(m.summary.converged);
  EXPECT_NE(m.summary.reason.find("7 iterations"), std::string::npos);
  EXPECT_LT(m.state.value, m.state.initial_value);
  EXPECT_EQ(m.summary.trace.size(), 8u);

  options.max_iterations = 0;
  m = minimise(rosenbrock, rosenbrock_start(10), options);
  EXPECT_EQ(m.state.evaluations, 1);
  EXPECT_EQ(m.state.value, *rosenbrock(rosenbrock_start(10), nullptr));

  options = {};
  for (Index k = 1; k < 20; ++k) {
    options.max_evaluations = k;
    m = minimise(rosenbrock, rosenbrock_start(10), options);
    EXPECT_EQ(m.state.evaluations, k);
    EXPECT_NE(m.summary.reason.find("evaluations"), std::string::npos);
    EXPECT_LE(m.state.value, m.state.initial_value);
  }

  options = {};
  options.max_seconds = 1e-9;
  m = minimise(rosenbrock, rosenbrock_start(10), options);
  EXPECT_EQ(m.state.iterations, 0);
  EXPECT_NE(m.summary.reason.find("seconds"), std::string::npos);
}

// A run cut by its limit and continued with a larger one ends where an uncut run does.
TEST(Lbfgs, ALimitedRunCanBeContinued) {
  const Minimum whole = minimise(rosenbrock, rosenbrock_start(8));
  LbfgsOptions options;
  options.max_iterations = 11;
  const Minimum part = minimise(rosenbrock, rosenbrock_start(8), options);
  const Minimum rest = minimise(Lbfgs(rosenbrock, part.state));
  EXPECT_TRUE(same_bits(rest.state.u, whole.state.u));
  EXPECT_EQ(rest.summary.iterations, whole.summary.iterations);
  EXPECT_EQ(rest.summary.initial_value, whole.summary.initial_value);
}

TEST(Lbfgs, CallbackSeesEveryIterationAndMayStop) {
  LbfgsOptions options;
  std::vector<double> values;
  options.callback = [&](const LbfgsState& s) {
    values.push_back(s.value);
    return s.iterations < 5;
  };
  const Minimum m = minimise(rosenbrock, rosenbrock_start(4), options);
  EXPECT_EQ(values.size(), 5u);
  EXPECT_EQ(m.state.iterations, 5);
  EXPECT_EQ(m.state.value, values.back());
  EXPECT_EQ(m.summary.reason, "stopped by the caller");
  EXPECT_FALSE(m.summary.converged);
}

// The objective gains a term when it is first evaluated beyond u₀ = 0, as when jitter rises.
TEST(Lbfgs, WhenTheObjectiveChangesTheCurrentPointIsEvaluatedAgain) {
  double added = 0.0;
  bool raised = false;
  const Objective f = [&](const Vector& u, Vector* g) -> std::optional<double> {
    if (u[0] > 0.0 && added == 0.0) {
      added = 50.0;
      raised = true;
    }
    Vector gradient(u.size());
    const double value = *rosenbrock(u, &gradient) + added * (1.0 + 1e-3 * u.squaredNorm());
    if (g) *g = gradient + 2e-3 * added * u;
    return value;
  };
  LbfgsOptions options;
  Index at_change = -1;
  options.objective_changed = [&] {
    if (raised) at_change = 0;
    return std::exchange(raised, false);
  };
  Lbfgs run(f, rosenbrock_start(2), options);
  double previous = run.state().value;
  while (run.step()) {
    // Monotone within each objective; the value of the state is always that of the present one.
    EXPECT_EQ(run.state().value, *f(run.state().u, nullptr));
    if (at_change != 0) {
      EXPECT_LT(run.state().value, previous);
      EXPECT_LT(run.state().value, 50.0);
    }
    previous = run.state().value;
  }
  EXPECT_EQ(at_change, 0);
  EXPECT_TRUE(run.converged()) << run.reason();
  const Minimum direct = minimise(f, rosenbrock_start(2));
  EXPECT_NEAR(run.state().value, direct.state.value, 1e-7);
}

TEST(Lbfgs, AnObjectiveThatAlwaysChangesIsGivenUp) {
  LbfgsOptions options;
  options.objective_changed = [] { return true; };
  EXPECT_THROW(minimise(rosenbrock, rosenbrock_start(2), options), NumericalError);
}

TEST(Lbfgs, OptionsExplainThemselves) {
  const auto refused = [](void (*spoil)(LbfgsOptions&), const char* name) {
    LbfgsOptions options;
    spoil(options);
    try {
      options.check();
      ADD_FAILURE() << name;
    } catch (const InputError& e) {
      EXPECT_NE(std::string(e.what()).find(name), std::string::npos) << e.what();
    }
    EXPECT_THROW(minimise(rosenbrock, rosenbrock_start(2), options), InputError);
  };
  refused([](LbfgsOptions& o) { o.memory = 0; }, "memory");
  refused([](LbfgsOptions& o) { o.max_iterations = -1; }, "max_iterations");
  refused([](LbfgsOptions& o) { o.max_evaluations = 0; }, "max_evaluations");
  refused([](LbfgsOptions& o) { o.max_seconds = 0.0; }, "max_seconds");
  refused([](LbfgsOptions& o) { o.max_seconds = nan; }, "max_seconds");
  refused([](LbfgsOptions& o) { o.gradient_tolerance = -1e-6; }, "gradient_tolerance");
  refused([](LbfgsOptions& o) { o.function_tolerance = nan; }, "function_tolerance");
  refused([](LbfgsOptions& o) { o.relative_noise = 1.0; }, "relative_noise");
  EXPECT_NO_THROW(LbfgsOptions().check());
}

}  // namespace
}  // namespace covary
