#include "covary/training/summary.hpp"

#include <gtest/gtest.h>

#include "covary/error.hpp"
#include "covary/training/lbfgs.hpp"
#include "functions.hpp"

namespace covary {
namespace {

bool holds(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

Summary example() {
  Summary s;
  s.objective = "elbo";
  s.value = 55.9003;
  s.initial_value = 120.5;
  s.iterations = 17;
  s.evaluations = 21;
  s.rejected_evaluations = 2;
  s.converged = true;
  s.reason = "the gradient is small";
  s.gradient_norm = 1.25e-5;
  s.seconds = 0.25;
  s.jitter = 1e-10;
  s.route = "blockwise";
  s.warnings = {"column 3 is constant"};
  s.best_start = 1;
  s.starts = {{0, std::nullopt, 0, false, "it failed"}, {1, 55.9003, 17, true, "fine"}};
  s.trace = {{0, 120.5, 30.0, 0.01}, {1, 80.25, 12.5, 0.02}};
  return s;
}

TEST(Summary, BriefIsOneLine) {
  const std::string text = example().brief();
  EXPECT_FALSE(holds(text, "\n"));
  for (const char* part :
       {"converged", "elbo = 55.9003", "17 iterations", "21 evaluations", "the gradient is small"})
    EXPECT_TRUE(holds(text, part)) << part << " in " << text;
  Summary s = example();
  s.converged = false;
  EXPECT_TRUE(holds(s.brief(), "not converged"));
}

TEST(Summary, FullHoldsEverything) {
  Summary s = example();
  std::string text = s.full();
  for (const char* part : {"120.5", "(2 rejected)", "1.250e-05", "1e-10", "blockwise",
                           "column 3 is constant", "failed", "it failed", "80.25", "*     1"})
    EXPECT_TRUE(holds(text, part)) << part << " in " << text;
  EXPECT_FALSE(holds(text, "upper bound"));
  s.upper_bound = 60.125;
  EXPECT_TRUE(holds(s.full(), "60.125"));
}

TEST(Summary, EveryValueBecomesALogDensityInTheUnitsOfTheData) {
  Summary s = example();
  s.to_log_density(0.5);
  EXPECT_EQ(s.value, -(55.9003 + 0.5));
  EXPECT_EQ(s.initial_value, -121.0);
  EXPECT_EQ(s.starts[1].value, -(55.9003 + 0.5));
  EXPECT_FALSE(s.starts[0].value.has_value());
  EXPECT_EQ(s.trace[1].value, -80.75);
  EXPECT_EQ(s.trace[1].gradient_norm, 12.5);
}

TEST(Summary, ReasonsForStoppingAreWords) {
  for (int i = 0; i <= static_cast<int>(Stop::running); ++i)
    EXPECT_EQ(parse_stop(print(static_cast<Stop>(i))), static_cast<Stop>(i));
  EXPECT_EQ(print(Stop::seconds), "seconds");
  EXPECT_THROW(parse_stop("tired"), InputError);
}

TEST(Summary, TraceOfARun) {
  const Minimum m = minimise(testing::rosenbrock, testing::rosenbrock_start(3));
  const auto& trace = m.summary.trace;
  ASSERT_EQ(static_cast<Index>(trace.size()), m.summary.iterations + 1);
  EXPECT_EQ(trace.front().value, m.summary.initial_value);
  EXPECT_EQ(trace.back().value, m.summary.value);
  EXPECT_EQ(trace.back().gradient_norm, m.summary.gradient_norm);
  for (std::size_t i = 1; i < trace.size(); ++i) {
    EXPECT_EQ(trace[i].iteration, static_cast<Index>(i));
    EXPECT_LE(trace[i].value, trace[i - 1].value + 1e-10);
    EXPECT_GE(trace[i].seconds, trace[i - 1].seconds);
  }
}

}  // namespace
}  // namespace covary
