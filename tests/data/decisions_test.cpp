#include "covary/data/decisions.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>

#include "covary/data/csv.hpp"
#include "covary/error.hpp"

namespace covary {
namespace {

// ∫ L(y, a) N(y; mean, variance) dy by the trapezium rule.
double expected(const std::function<double(double, double)>& loss, double a, double mean,
                double variance) {
  const double sd = std::sqrt(variance), step = sd * 1e-3;
  double sum = 0.0;
  for (double y = mean - 12.0 * sd; y < mean + 12.0 * sd; y += step) {
    const double z = (y - mean) / sd;
    sum += loss(y, a) * std::exp(-0.5 * z * z) / (sd * std::sqrt(2.0 * M_PI)) * step;
  }
  return sum;
}

TEST(Decisions, MinimiseTheExpectedLossOfNumbers) {
  const Vector mean = Vector::Constant(1, 0.7), variance = Vector::Constant(1, 0.3);
  const std::pair<Loss, std::function<double(double, double)>> cases[] = {
      {Loss("squared"), [](double y, double a) { return (y - a) * (y - a); }},
      {Loss("absolute"), [](double y, double a) { return std::abs(y - a); }},
      {Loss("quantile(0.9)"),
       [](double y, double a) { return (0.9 - (y < a ? 1.0 : 0.0)) * (y - a); }},
      {Loss("quantile(0.2)"),
       [](double y, double a) { return (0.2 - (y < a ? 1.0 : 0.0)) * (y - a); }}};
  for (const auto& [loss, function] : cases) {
    const Decisions d = decide(loss, mean, variance);
    const double best = expected(function, d.decided(0), 0.7, 0.3);
    EXPECT_NEAR(d.expected_loss(0), best, 1e-6);
    for (const double away : {-0.05, 0.05})
      EXPECT_GT(expected(function, d.decided(0) + away, 0.7, 0.3), best);
  }
}

TEST(Decisions, OfClassesFollowTheCosts) {
  const RowMatrix p = (RowMatrix(3, 2) << 0.9, 0.1, 0.7, 0.3, 0.2, 0.8).finished();
  const Matrix equal = (Matrix(2, 2) << 0.0, 1.0, 1.0, 0.0).finished();
  const Decisions plain = decide_classes(p, equal);
  EXPECT_EQ(plain.decided, (Vector(3) << 0.0, 0.0, 1.0).finished());
  EXPECT_NEAR(plain.expected_loss(0), 0.1, 1e-15);
  // To miss the second class costs five times as much: it is decided from 1/6 on.
  const Matrix costs = (Matrix(2, 2) << 0.0, 1.0, 5.0, 0.0).finished();
  const Decisions careful = decide_classes(p, costs);
  EXPECT_EQ(careful.decided, (Vector(3) << 0.0, 1.0, 1.0).finished());
  EXPECT_NEAR(careful.expected_loss(1), 0.7, 1e-15);
  EXPECT_THROW(decide_classes(p, Matrix::Zero(3, 3)), InputError);
}

TEST(Decisions, CostsAreReadByTheNamesOfClasses) {
  const std::vector<std::string> classes{"no", "yes"};
  const Table table = parse_csv("class,yes,no\nyes,0,5\nno,1,0.5\n", "costs");
  const Matrix costs = read_costs(table, classes);
  EXPECT_EQ(costs, (Matrix(2, 2) << 0.5, 1.0, 5.0, 0.0).finished());
  for (const char* text :
       {"class,yes\nyes,0\nno,1\n", "class,yes,no\nyes,0,5\n", "class,yes,no\nyes,0,5\nmaybe,1,0\n",
        "class,yes,no\nyes,0,5\nyes,1,0\n"})
    EXPECT_THROW(read_costs(parse_csv(text, "costs"), classes), InputError) << text;
}

TEST(Decisions, UnknownLossesAreNamed) {
  for (const char* text : {"square", "quantile(1)", "quantile(x)", "quantile()"})
    EXPECT_THROW(Loss{text}, InputError) << text;
}

}  // namespace
}  // namespace covary
