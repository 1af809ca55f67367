#include "covary/parameters/transform.hpp"

#include <cmath>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "covary/error.hpp"
#include "support/gradient_check.hpp"

namespace covary {
namespace {

const double nan = std::numeric_limits<double>::quiet_NaN();
const double inf = std::numeric_limits<double>::infinity();

struct Case {
  std::string name;
  Transform transform;
};
void PrintTo(const Case& c, std::ostream* out) { *out << c.name; }

class Transforms : public testing::TestWithParam<Case> {
 protected:
  const Transform& transform_ = GetParam().transform;
  // Ten free vectors, the last of them far out in the flat parts.
  std::vector<Vector> points(Index size) const {
    std::mt19937_64 engine(5);
    std::normal_distribution<double> normal;
    std::vector<Vector> out;
    for (int k = 0; k < 10; ++k)
      out.push_back(
          Vector::NullaryExpr(size, [&] { return (k == 9 ? 8.0 : 1.5) * normal(engine); }));
    return out;
  }
};

TEST_P(Transforms, RoundTrip) {
  for (const Vector& u : points(6)) {
    const Vector x = transform_.constrain(u);
    ASSERT_TRUE(x.allFinite());
    const Vector back = transform_.constrain(transform_.unconstrain(x));
    EXPECT_LE((back - x).cwiseAbs().maxCoeff(), 1e-13 * x.cwiseAbs().maxCoeff()) << x.transpose();
  }
  for (const Vector& u : points(6)) {
    if (u.cwiseAbs().maxCoeff() > 6.0) continue;
    const Vector back = transform_.unconstrain(transform_.constrain(u));
    EXPECT_LE((back - u).cwiseAbs().maxCoeff(), 1e-8) << u.transpose();
  }
}

TEST_P(Transforms, PullbackIsTheTransposedJacobian) {
  for (const Vector& u : points(6)) {
    const Vector x_bar = points(6)[3].reverse();
    expect_gradient([&](const Vector& v) { return transform_.constrain(v).dot(x_bar); },
                    transform_.pullback(u, x_bar), u);
  }
}

// Where an optimiser ran to the end of the range, the value must still be one that can be read.
TEST_P(Transforms, WhatItMakesItCanRead) {
  for (const double far : {-1e6, -800.0, -100.0, -40.0, 40.0, 100.0, 800.0}) {
    const Vector x = transform_.constrain(Vector::Constant(6, far));
    ASSERT_TRUE(x.allFinite()) << far;
    const Vector u = transform_.unconstrain(x, "parameter");
    EXPECT_TRUE(u.allFinite()) << far << ": " << u.transpose();
    const Vector again = transform_.constrain(u);
    EXPECT_LE((again - x).cwiseAbs().maxCoeff(), 1e-12 * x.cwiseAbs().maxCoeff()) << far;
  }
}

TEST_P(Transforms, ValuesThatAreNotFiniteAreRefusedByName) {
  const Vector good = transform_.constrain(Vector::Constant(6, 0.1));
  for (const double bad : {nan, inf, -inf})
    for (Index k = 0; k < 6; ++k) {
      Vector x = good;
      x(k) = bad;
      try {
        transform_.unconstrain(x, "kernel.variance");
        ADD_FAILURE() << bad << " was accepted at " << k;
      } catch (const InputError& e) {
        EXPECT_NE(std::string(e.what()).find("kernel.variance"), std::string::npos) << e.what();
      }
    }
}

TEST_P(Transforms, AreEmptyOfNothing) {
  EXPECT_EQ(transform_.constrain(Vector(0)).size(), 0);
  EXPECT_EQ(transform_.unconstrain(Vector(0)).size(), 0);
  EXPECT_FALSE(transform_.describe().empty());
}

INSTANTIATE_TEST_SUITE_P(All, Transforms,
                         testing::Values(Case{"real", Transform::real()},
                                         Case{"positive", Transform::positive()},
                                         Case{"scaled", Transform::positive(1e-4)},
                                         Case{"floor", Transform::positive(2.0, 1e-3)},
                                         Case{"bounded", Transform::bounded(0.0, 1.0)},
                                         Case{"wide", Transform::bounded(-1e3, 1.0)},
                                         Case{"narrow", Transform::bounded(1.0, 1.0 + 1e-6)},
                                         Case{"triangle", Transform::lower_triangular()},
                                         Case{"ordered", Transform::ordered()}),
                         [](const auto& c) { return c.param.name; });

TEST(Transform, Values) {
  const Vector zero = Vector::Zero(1);
  EXPECT_NEAR(Transform::positive().constrain(zero)(0), std::log(2.0), 1e-16);
  EXPECT_NEAR(Transform::positive(3.0, 0.5).constrain(zero)(0), 0.5 + 3.0 * std::log(2.0), 1e-15);
  EXPECT_NEAR(Transform::bounded(2.0, 4.0).constrain(zero)(0), 3.0, 1e-15);
  EXPECT_GT(Transform::positive(1.0, 0.25).constrain(Vector::Constant(1, -50.0))(0), 0.25);
}

// Entries 0, 2 and 5 of a row-by-row triangle of three rows are its diagonal.
TEST(Transform, LowerTriangularKeepsItsDiagonalPositive) {
  const Vector u = Vector::Constant(6, -2.0);
  const Vector x = Transform::lower_triangular().constrain(u);
  for (const Index k : {0, 2, 5}) EXPECT_NEAR(x(k), std::log1p(std::exp(-2.0)), 1e-16) << k;
  for (const Index k : {1, 3, 4}) EXPECT_EQ(x(k), -2.0) << k;
  Vector bad = Vector::Ones(6);
  bad(1) = bad(3) = bad(4) = -1.0;
  EXPECT_NO_THROW(Transform::lower_triangular().unconstrain(bad));
  bad(2) = -1.0;
  EXPECT_THROW(Transform::lower_triangular().unconstrain(bad), InputError);
  // the diagonal of a large triangle, by its definition
  Vector large = Vector::Constant(200 * 201 / 2, -1.0);
  for (Index row = 0, at = 0; row < 200; at += ++row) large(at + row) = 1.0;
  EXPECT_NO_THROW(Transform::lower_triangular().unconstrain(large));
}

TEST(Transform, OrderedIncreases) {
  const Vector x = Transform::ordered().constrain((Vector(4) << 3.0, -5.0, 0.0, 2.0).finished());
  EXPECT_EQ(x(0), 3.0);
  for (Index k = 1; k < 4; ++k) EXPECT_GT(x(k), x(k - 1));
  EXPECT_THROW(Transform::ordered().unconstrain((Vector(3) << 1, 1, 2).finished()), InputError);
  EXPECT_THROW(Transform::ordered().unconstrain((Vector(3) << 1, 3, 2).finished()), InputError);
}

TEST(Transform, OutOfRangeIsRefusedWithTheRange) {
  const auto message = [](const Transform& t, double x) {
    try {
      t.unconstrain(Vector::Constant(1, x), "noise");
    } catch (const InputError& e) {
      return std::string(e.what());
    }
    return std::string("accepted");
  };
  EXPECT_EQ(message(Transform::positive(), 0.0), "noise must be finite and above 0, got 0");
  EXPECT_EQ(message(Transform::positive(), -2.0), "noise must be finite and above 0, got -2");
  EXPECT_EQ(message(Transform::positive(1.0, 0.5), 0.5),
            "noise must be finite and above 0.5, got 0.5");
  EXPECT_EQ(message(Transform::bounded(1.0, 2.0), 2.0), "noise must lie between 1 and 2, got 2");
  EXPECT_EQ(message(Transform::bounded(1.0, 2.0), 0.0), "noise must lie between 1 and 2, got 0");
}

TEST(Transform, BadRangesAreRefused) {
  for (const double scale : {0.0, -1.0, nan, inf})
    EXPECT_THROW(Transform::positive(scale), InputError) << scale;
  for (const double floor : {-1.0, nan, inf})
    EXPECT_THROW(Transform::positive(1.0, floor), InputError) << floor;
  EXPECT_THROW(Transform::bounded(1.0, 1.0), InputError);
  EXPECT_THROW(Transform::bounded(2.0, 1.0), InputError);
  EXPECT_THROW(Transform::bounded(nan, 1.0), InputError);
  EXPECT_THROW(Transform::bounded(0.0, inf), InputError);
  EXPECT_THROW(Transform::bounded(-inf, 0.0), InputError);
}

}  // namespace
}  // namespace covary
