#include "covary/data/mackey_glass.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "covary/error.hpp"

namespace covary {
namespace {

// As long as what is delayed is the history, ζ has a closed form.
TEST(MackeyGlass, FollowsItsEquation) {
  const Vector x = mackey_glass(201);
  const double level = 2.0 * 1.2 / (1 + std::pow(1.2, 10));
  for (Index t = 0; t <= 17; ++t)
    EXPECT_NEAR(x(t), level + (1.2 - level) * std::exp(-0.1 * static_cast<double>(t)), 5e-6);
  // Richardson's limit of another program's steps of 1/40 and 1/160.
  EXPECT_NEAR(x(40), 1.09213519, 2e-5);
  EXPECT_NEAR(x(100), 1.01372402, 2e-5);
  EXPECT_NEAR(x(200), 1.18671811, 5e-5);
}

TEST(MackeyGlass, BeginsWhereItIsAsked) {
  EXPECT_EQ(mackey_glass(50, 0.9).tail(20), mackey_glass(20, 0.9, 30));
  EXPECT_NE(mackey_glass(5, 0.9, 500)(4), mackey_glass(5, 0.91, 500)(4));
  const Vector long_run = mackey_glass(2000, 0.6, 500);
  EXPECT_GT(long_run.minCoeff(), 0.15);
  EXPECT_LT(long_run.maxCoeff(), 1.45);
  EXPECT_THROW(mackey_glass(0), InputError);
  EXPECT_THROW(mackey_glass(3, 1.0, -1), InputError);
  EXPECT_THROW(mackey_glass(3, std::nan("")), InputError);
}

}  // namespace
}  // namespace covary
