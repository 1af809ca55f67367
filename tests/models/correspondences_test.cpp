#include "covary/models/correspondences.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

#include "covary/error.hpp"
#include "covary/models/gplvm.hpp"
#include "covary/random/random.hpp"

namespace covary {
namespace {

constexpr double nan = std::numeric_limits<double>::quiet_NaN();

// View a is a curve over s; view b has s and, apart from it, one of two levels, which a does not
// tell.
struct Data {
  RowMatrix Y{60, 8};
  Vector s{60}, level{60};
  Data() {
    Random random(3);
    for (Index i = 0; i < 60; ++i) {
      s(i) = 2.0 * std::numbers::pi * static_cast<double>(i % 30) / 30.0;
      level(i) = i < 30 ? -1.0 : 1.0;
      Y.row(i) << std::cos(s(i)), std::sin(s(i)), std::cos(s(i)) + std::sin(s(i)),
          std::cos(s(i)) - std::sin(s(i)), std::sin(s(i)) + level(i), std::cos(s(i)) - level(i),
          level(i), 0.5 * std::sin(s(i)) - level(i);
      for (Index p = 0; p < 8; ++p) Y(i, p) += 0.02 * random.normal();
    }
  }
};

GplvmFit fit_of(const Data& d) {
  GplvmOptions o;
  o.latent = 4;
  o.inducing = 20;
  o.views = {{"a", {0, 1, 2, 3}}, {"b", {4, 5, 6, 7}}};
  o.kernel = "linear(ard)";
  o.training.starts = 2;
  o.training.max_iterations = 200;
  return Gplvm(d.Y, o).fit();
}

TEST(Correspondences, NeighboursShareWhatTheViewsShare) {
  const Data d;
  const GplvmFit fit = fit_of(d);
  RowMatrix seen(3, 8);
  const double at[] = {0.3, 2.1, 4.5};
  for (Index i = 0; i < 3; ++i)
    seen.row(i) << std::cos(at[i]), std::sin(at[i]), std::cos(at[i]) + std::sin(at[i]),
        std::cos(at[i]) - std::sin(at[i]), nan, nan, nan, nan;
  const Correspondences c = correspondences(fit, seen, {.neighbours = 4, .relevance = 0.02});
  ASSERT_EQ(c.rows.size(), 3u);
  ASSERT_EQ(c.latent.size(), 4u);
  const Prediction plain = fit.decode(fit.infer(seen).mean);
  for (Index i = 0; i < 3; ++i) {
    bool low = false, high = false;
    for (Index k = 0; k < 4; ++k) {
      const auto row = static_cast<std::size_t>(i), kth = static_cast<std::size_t>(k);
      const Index r = c.rows[row][kth];
      // Near in s, of either level.
      const double apart = std::remainder(d.s(r) - at[i], 2.0 * std::numbers::pi);
      EXPECT_LT(std::abs(apart), 0.6);
      (d.level(r) < 0.0 ? low : high) = true;
      EXPECT_GE(c.distances(i, k), c.distances(i, std::max<Index>(0, k - 1)));
      // The other view has the neighbour's level and the row's own place.
      const RowMatrix y = fit.decode(c.latent[kth]).mean;
      EXPECT_NEAR(y(i, 6), d.level(r), 0.25);
      EXPECT_NEAR(y(i, 4), std::sin(at[i]) + d.level(r), 0.35);
      EXPECT_NEAR(y(i, 0), std::cos(at[i]), 0.1);
    }
    EXPECT_TRUE(low && high);
    EXPECT_LT(std::abs(plain.mean(i, 6)), 0.5);  // by the prior: between the levels
  }
}

TEST(Correspondences, BadInputIsRefused) {
  const Data d;
  const GplvmFit fit = fit_of(d);
  RowMatrix y = d.Y.topRows(2);
  EXPECT_THROW(correspondences(fit, y), InputError);  // nothing is missing
  y.rightCols(4).setConstant(nan);
  EXPECT_NO_THROW(correspondences(fit, y));
  EXPECT_THROW(correspondences(fit, y, {.neighbours = 0}), InputError);
  EXPECT_THROW(correspondences(fit, y, {.neighbours = 61}), InputError);
  EXPECT_THROW(correspondences(fit, y, {.relevance = 1.0}), InputError);
  EXPECT_THROW(correspondences(fit, y.leftCols(5)), InputError);
  y.setConstant(nan);
  EXPECT_THROW(correspondences(fit, y), InputError);
  GplvmOptions o;
  o.latent = 1;
  o.training.max_iterations = 0;
  EXPECT_THROW(correspondences(Gplvm(d.Y, o).fit(), d.Y), Unsupported);
}

}  // namespace
}  // namespace covary
