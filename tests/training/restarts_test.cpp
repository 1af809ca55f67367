#include "covary/training/restarts.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "covary/error.hpp"
#include "covary/random/random.hpp"
#include "functions.hpp"

namespace covary {
namespace {

const double nan = std::numeric_limits<double>::quiet_NaN();

// Local minima near every multiple of 2π; the lowest, −10, is at zero. Fails beyond 30.
std::optional<double> washboard(const Vector& u, Vector* gradient) {
  if (std::abs(u[0]) > 30.0) return std::nullopt;
  (*gradient)[0] = 10.0 * std::sin(u[0]) + 0.02 * u[0];
  return -10.0 * std::cos(u[0]) + 0.01 * u[0] * u[0];
}

Vector at(double x) { return Vector::Constant(1, x); }

TEST(Restarts, TheBestOfSeveralStartsIsKept) {
  const std::vector<double> starts{25.0, 13.0, 0.7, -6.0};
  std::vector<Index> asked;
  const Minimum m = minimise_with_restarts(washboard, at(starts[0]), 4, [&](Index r) {
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
    const Minimum alone = minimise(washboard, at(starts[r]));
    EXPECT_EQ(m.summary.starts[r].value, alone.state.value);
    EXPECT_EQ(m.summary.starts[r].iterations, alone.state.iterations);
    EXPECT_EQ(m.summary.starts[r].reason, alone.summary.reason);
    EXPECT_TRUE(m.summary.starts[r].converged);
    evaluations += alone.state.evaluations;
  }
  EXPECT_EQ(m.summary.evaluations, evaluations);
}

TEST(Restarts, ReproducibleFromStreams) {
  const auto run = [] {
    return minimise_with_restarts(washboard, at(20.0), 6, [](Index r) {
      return at(10.0 * Random(5, static_cast<std::uint64_t>(r)).normal());
    });
  };
  const Minimum a = run(), b = run();
  EXPECT_EQ(a.state.u[0], b.state.u[0]);
  for (std::size_t r = 0; r < 6; ++r)
    EXPECT_EQ(a.summary.starts[r].value, b.summary.starts[r].value);
}

TEST(Restarts, FailedStartsAreReported) {
  const Minimum m = minimise_with_restarts(washboard, at(99.0), 3,
                                           [](Index r) { return at(r == 1 ? 6.0 : -50.0); });
  EXPECT_EQ(m.summary.best_start, 1);
  EXPECT_FALSE(m.summary.starts[0].value.has_value());
  EXPECT_TRUE(m.summary.starts[1].value.has_value());
  EXPECT_FALSE(m.summary.starts[2].value.has_value());
  EXPECT_NE(m.summary.starts[2].reason.find("at the start"), std::string::npos);
  EXPECT_GE(m.summary.rejected_evaluations, 2);
  EXPECT_NE(m.summary.full().find("failed"), std::string::npos);
}

TEST(Restarts, ErrorWhenAllFail) {
  try {
    minimise_with_restarts(washboard, at(99.0), 2, [](Index) { return at(-99.0); });
    FAIL();
  } catch (const NumericalError& e) {
    const std::string text = e.what();
    EXPECT_NE(text.find("none of 2 starts"), std::string::npos) << text;
    EXPECT_NE(text.find("start 0:"), std::string::npos) << text;
    EXPECT_NE(text.find("start 1:"), std::string::npos) << text;
  }
}

TEST(Restarts, OfEqualValuesTheFirstIsKept) {
  const Minimum m = minimise_with_restarts(washboard, at(2.0), 3, [](Index) { return at(2.0); });
  EXPECT_EQ(m.summary.best_start, 0);
}

TEST(Restarts, OneStartIsAPlainRun) {
  const Minimum m = minimise_with_restarts(washboard, at(5.0), 1, nullptr);
  const Minimum alone = minimise(washboard, at(5.0));
  EXPECT_EQ(m.state.u[0], alone.state.u[0]);
  EXPECT_TRUE(m.summary.starts.empty());
}

TEST(Restarts, TheCallerStopsThemAll) {
  LbfgsOptions options;
  int calls = 0;
  options.callback = [&](const LbfgsState&) { return ++calls < 2; };
  const Minimum m = minimise_with_restarts(
      testing::rosenbrock, testing::rosenbrock_start(4), 5,
      [](Index) { return testing::rosenbrock_start(4); }, options);
  EXPECT_EQ(calls, 2);
  EXPECT_EQ(m.summary.starts.size(), 1u);
  EXPECT_EQ(m.summary.reason, "stopped by the caller");
}

// A run that is stopped after any iteration and continued from its state ends with the same bits.
TEST(Restarts, ContinuedFromAnyStateWithTheSameBits) {
  const auto start_of = [](Index r) {
    return Vector(testing::rosenbrock_start(4) * (1.0 + 0.3 * static_cast<double>(r)));
  };
  std::vector<RestartsState> states;
  const Minimum whole =
      minimise_with_restarts(testing::rosenbrock, start_of(0), 3, start_of, {}, {},
                             [&](const RestartsState& s) { states.push_back(s); });
  ASSERT_GT(states.size(), 30u);
  EXPECT_EQ(states.back().start, 2);
  for (std::size_t i = 0; i < states.size(); i += 7) {
    const Minimum m =
        minimise_with_restarts(testing::rosenbrock, start_of(0), 3, start_of, {}, states[i]);
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
  }
  RestartsState wrong = states.back();
  EXPECT_THROW(minimise_with_restarts(washboard, at(1.0), 3, start_of, {}, wrong), InputError);
  EXPECT_THROW(minimise_with_restarts(testing::rosenbrock, start_of(0), 2, start_of, {}, wrong),
               InputError);
}

// Asked between evaluations, it ends an iteration that is under way at the point before it.
TEST(Restarts, StoppedWithinAnIteration) {
  LbfgsOptions options;
  int evaluations = 0;
  options.stop = [&] { return evaluations >= 12; };
  const Minimum m = minimise_with_restarts(
      [&](const Vector& u, Vector* g) {
        ++evaluations;
        return testing::rosenbrock(u, g);
      },
      testing::rosenbrock_start(4), 3, [](Index) { return testing::rosenbrock_start(4); }, options);
  EXPECT_EQ(evaluations, 12);
  EXPECT_EQ(m.summary.starts.size(), 1u);
  EXPECT_EQ(m.summary.reason, "stopped by the caller");
  EXPECT_EQ(m.summary.value, m.summary.trace.back().value);
}

TEST(Restarts, TheTimeLimitIsForAllTogether) {
  LbfgsOptions options;
  options.max_seconds = 1e-9;
  const Minimum m = minimise_with_restarts(
      washboard, at(5.0), 3, [](Index) { return at(1.0); }, options);
  EXPECT_EQ(m.summary.best_start, 0);
  ASSERT_EQ(m.summary.starts.size(), 3u);
  EXPECT_NE(m.summary.starts[2].reason.find("not run"), std::string::npos);
}

TEST(Restarts, BadArguments) {
  EXPECT_THROW(minimise_with_restarts(washboard, at(1.0), 0, nullptr), InputError);
  EXPECT_THROW(minimise_with_restarts(washboard, at(1.0), 2, nullptr), InputError);
  EXPECT_THROW(minimise_with_restarts(washboard, at(nan), 1, nullptr), InputError);
}

}  // namespace
}  // namespace covary
