#include "covary/training/adam.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "covary/error.hpp"
#include "covary/random/random.hpp"
#include "functions.hpp"

namespace covary {
namespace {

using testing::Quadratic;

TEST(Adam, Schedules) {
  using S = LearningRate::Schedule;
  EXPECT_DOUBLE_EQ((LearningRate{0.1}.at(12345)), 0.1);
  EXPECT_DOUBLE_EQ((LearningRate{0.1, S::exponential, 0.25, 100}.at(50)), 0.05);
  EXPECT_DOUBLE_EQ((LearningRate{0.1, S::steps, 0.5, 100}.at(99)), 0.1);
  EXPECT_DOUBLE_EQ((LearningRate{0.1, S::steps, 0.5, 100}.at(200)), 0.025);
  const LearningRate cosine{0.1, S::cosine, 0.2, 100};
  EXPECT_DOUBLE_EQ(cosine.at(0), 0.1);
  EXPECT_NEAR(cosine.at(50), 0.06, 1e-15);
  EXPECT_DOUBLE_EQ(cosine.at(100), 0.02);
  EXPECT_DOUBLE_EQ(cosine.at(1000), 0.02);
  const LearningRate warm{0.1, S::constant, 0.1, 1000, 4};
  EXPECT_DOUBLE_EQ(warm.at(0), 0.025);
  EXPECT_DOUBLE_EQ(warm.at(3), 0.1);
  EXPECT_DOUBLE_EQ(warm.at(4), 0.1);
  for (const char* name : {"constant", "exponential", "steps", "cosine"})
    EXPECT_EQ(print(parse_schedule(name)), name);
  EXPECT_THROW(parse_schedule("linear"), InputError);
}

// The first steps from the paper's formulas: the bias-corrected ratio is g/|g| at first.
TEST(Adam, FirstStepsByHand) {
  Adam adam(Vector::Constant(1, 2.0), {.learning_rate = {0.1}});
  adam.step(1.0, Vector::Constant(1, 3.0));
  EXPECT_NEAR(adam.state().u(0), 1.9, 1e-9);
  adam.step(1.0, Vector::Constant(1, -1.0));
  const double m = (0.9 * 0.1 * 3.0 - 0.1) / (1 - 0.81),
               v = (0.999 * 0.001 * 9.0 + 0.001) / (1 - 0.999 * 0.999);
  EXPECT_NEAR(adam.state().u(0), 1.9 - 0.1 * m / std::sqrt(v), 1e-8);
}

TEST(Adam, ResumesWithTheSameBits) {
  const Quadratic f(3, 10.0);
  const auto gradient = [&](const Vector& u) { return Vector(f.h.cwiseProduct(u - f.centre)); };
  const auto value = [&](const Vector& u) { return 0.5 * f.h.dot((u - f.centre).cwiseAbs2()); };
  const auto run = [&](Adam& adam, int steps) {
    for (int i = 0; i < steps; ++i) {
      const Vector u = adam.state().u;
      adam.step(value(u), gradient(u));
    }
  };
  Adam whole(Vector::Zero(3)), part(Vector::Zero(3));
  run(whole, 130);
  run(part, 77);
  Adam rest(part.state());
  run(rest, 53);
  EXPECT_EQ(rest.state().u, whole.state().u);
  EXPECT_EQ(rest.state().best_u, whole.state().best_u);
  EXPECT_EQ(rest.state().mean, whole.state().mean);
}

TEST(Adam, FailedEvaluationsAreTakenBack) {
  Adam adam(Vector::Ones(1), {.learning_rate = {0.1}, .window = 5, .most_rollbacks = 2});
  for (int i = 0; i < 5; ++i) adam.step(adam.state().u(0), Vector::Ones(1));
  const double best = adam.state().best_u(0);
  EXPECT_EQ(adam.step(std::nullopt, Vector::Ones(1)), Adam::Outcome::rolled_back);
  EXPECT_EQ(adam.state().u(0), best);
  EXPECT_NEAR(adam.rate(), 0.05, 1e-15);
  const double nan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_EQ(adam.step(1.0, Vector::Constant(1, nan)), Adam::Outcome::rolled_back);
  EXPECT_EQ(adam.step(nan, Vector::Ones(1)), Adam::Outcome::given_up);
  EXPECT_EQ(adam.state().failures, 3);
  EXPECT_NE(adam.warning().find("2 times"), std::string::npos);
}

TEST(Adam, Refusals) {
  EXPECT_THROW(Adam(Vector::Ones(1), {.learning_rate = {0.0}}), InputError);
  EXPECT_THROW(Adam(Vector::Ones(1), {.beta1 = 1.0}), InputError);
  EXPECT_THROW(Adam(Vector::Ones(1), {.window = 0}), InputError);
  EXPECT_THROW(Adam(Vector::Ones(1), {.learning_rate = {0.1, LearningRate::Schedule::cosine, 0.0}}),
               InputError);
  EXPECT_THROW(Adam(Vector::Constant(1, std::numeric_limits<double>::infinity())), InputError);
  AdamState broken;
  broken.u = Vector::Ones(2);
  EXPECT_THROW(Adam(std::move(broken)), InputError);
}

}  // namespace
}  // namespace covary
