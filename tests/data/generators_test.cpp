#include "covary/data/generators.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "covary/error.hpp"

namespace covary {
namespace {

Vector at(const std::vector<InputRange>& ranges, double w) {
  Vector x(static_cast<Index>(ranges.size()));
  for (std::size_t j = 0; j < ranges.size(); ++j)
    x[static_cast<Index>(j)] = ranges[j].lower + w * (ranges[j].upper - ranges[j].lower);
  return x;
}

// Computed independently in Python from the published formulas and ranges.
TEST(Generators, ValuesAtTheCentreQuarterAndUpperCornerOfTheBox) {
  EXPECT_NEAR(borehole(at(borehole_ranges(), 0.5)), 70.87291263681897, 1e-11);
  EXPECT_NEAR(borehole(at(borehole_ranges(), 0.25)), 42.15503865830926, 1e-11);
  EXPECT_NEAR(borehole(at(borehole_ranges(), 1)), 145.68027003845495, 1e-11);
  EXPECT_NEAR(otl_circuit(at(otl_circuit_ranges(), 0.5)), 5.310616942188329, 1e-12);
  EXPECT_NEAR(otl_circuit(at(otl_circuit_ranges(), 0.25)), 5.202493584049977, 1e-12);
  EXPECT_NEAR(otl_circuit(at(otl_circuit_ranges(), 1)), 5.4519642062149405, 1e-12);
  EXPECT_NEAR(wing_weight(at(wing_weight_ranges(), 0.5)), 267.6246925704357, 1e-10);
  EXPECT_NEAR(wing_weight(at(wing_weight_ranges(), 0.25)), 209.59317550318315, 1e-10);
  EXPECT_NEAR(wing_weight(at(wing_weight_ranges(), 1)), 409.3318269143905, 1e-10);
}

void expect_box(const SyntheticData& data, const std::vector<InputRange>& ranges) {
  ASSERT_EQ(data.X.cols(), static_cast<Index>(ranges.size()));
  for (std::size_t k = 0; k < ranges.size(); ++k) {
    const auto column = data.X.col(static_cast<Index>(k));
    const double width = ranges[k].upper - ranges[k].lower;
    EXPECT_EQ(data.inputs[k], ranges[k].name);
    EXPECT_GE(column.minCoeff(), ranges[k].lower);
    EXPECT_LE(column.maxCoeff(), ranges[k].upper);
    EXPECT_NEAR(column.mean(), ranges[k].lower + width / 2, 0.05 * width);
    EXPECT_GT(column.maxCoeff() - column.minCoeff(), 0.98 * width);
  }
}

TEST(Generators, InputsFillTheirBoxAndOutputsAreTheFunction) {
  const SyntheticData b = borehole_data(1000, 1), o = otl_circuit_data(1000, 1),
                      w = wing_weight_data(1000, 1);
  expect_box(b, borehole_ranges());
  expect_box(o, otl_circuit_ranges());
  expect_box(w, wing_weight_ranges());
  for (Index i : {0, 500, 999}) {
    EXPECT_EQ(b.y[i], borehole(b.X.row(i).transpose()));
    EXPECT_EQ(o.y[i], otl_circuit(o.X.row(i).transpose()));
    EXPECT_EQ(w.y[i], wing_weight(w.X.row(i).transpose()));
  }
}

TEST(Generators, TheSameSeedGivesTheSameDataAndMoreRowsExtendIt) {
  const SyntheticData a = friedman_data(50, 3), b = friedman_data(80, 3), c = friedman_data(50, 4);
  EXPECT_EQ(a.X, b.X.topRows(50));
  EXPECT_EQ(a.y, b.y.head(50));
  EXPECT_NE(a.X, c.X);
  EXPECT_EQ(friedman_data(50, 3, 10, 0.1).X, a.X);  // the noise does not move the inputs
}

TEST(Generators, NoiseHasTheAskedDeviation) {
  const SyntheticData s = snelson_like_data(4000, 2), f = friedman_data(4000, 2, 7, 1.5);
  EXPECT_NEAR(std::sqrt((s.y - s.f).array().square().mean()), 0.28, 0.02);
  EXPECT_NEAR(std::sqrt((f.y - f.f).array().square().mean()), 1.5, 0.1);
  EXPECT_NEAR((s.y - s.f).mean(), 0, 0.03);
  EXPECT_EQ(f.inputs.back(), "x6");
}

TEST(Generators, SnelsonLikeSetHasAGap) {
  const SyntheticData data = snelson_like_data();
  ASSERT_EQ(data.X.rows(), 200);
  Index left = 0, right = 0;
  for (double x : data.X.col(0)) {
    left += x >= 0 && x <= 3.2;
    right += x >= 4.2 && x <= 6;
  }
  EXPECT_EQ(left + right, 200);
  EXPECT_NEAR(static_cast<double>(left), 128, 25);
  for (Index i = 0; i < 200; ++i) {
    const double x = data.X(i, 0);
    EXPECT_NEAR(data.f[i], std::sin(2 * x) + 0.6 * std::cos(0.9 * x), 1e-15);
  }
}

TEST(Generators, SmallFunctions) {
  const SyntheticData p = periodic_data(20, 5, 0, 1, 0), q = periodic_data(20, 5, 3, 4, 0);
  for (Index i = 0; i < 20; ++i) EXPECT_NEAR(p.y[i], q.y[i], 1e-12);  // E5.3: period 1
  const double x0 = p.X(0, 0);
  EXPECT_NEAR(p.f[0], std::sin(2 * M_PI * x0) + 0.5 * std::cos(4 * M_PI * x0), 1e-15);
  const SyntheticData f = friedman_data(1, 6, 5, 0);
  const auto x = f.X.row(0);
  EXPECT_NEAR(
      f.y[0],
      10 * std::sin(M_PI * x[0] * x[1]) + 20 * std::pow(x[2] - 0.5, 2) + 10 * x[3] + 5 * x[4],
      1e-12);
  const SyntheticData e = parabola_data();
  ASSERT_EQ(e.X.rows(), 12);
  for (Index i = 0; i < 12; ++i)
    EXPECT_NEAR(e.f[i], 0.3 + 0.8 * e.X(i, 0) + 0.7 * e.X(i, 0) * e.X(i, 0), 1e-15);
}

TEST(Generators, BadInputIsRefused) {
  EXPECT_THROW(borehole(Vector::Ones(7)), InputError);
  EXPECT_THROW(otl_circuit(Vector::Ones(8)), InputError);
  EXPECT_THROW(wing_weight(Vector::Ones(9)), InputError);
  EXPECT_THROW(borehole_data(0, 1), InputError);
  EXPECT_THROW(borehole_data(5, 1, -1), InputError);
  EXPECT_THROW(friedman_data(5, 1, 4), InputError);
  EXPECT_THROW(periodic_data(5, 1, 2, 2), InputError);
}

}  // namespace
}  // namespace covary
