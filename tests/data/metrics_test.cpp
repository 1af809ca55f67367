#include "covary/data/metrics.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "covary/error.hpp"
#include "covary/random/random.hpp"

namespace covary {
namespace {

constexpr double nan = std::numeric_limits<double>::quiet_NaN();
constexpr double inf = std::numeric_limits<double>::infinity();

// Reference values from Python's statistics.NormalDist; the CRPS by numerical integration of its
// definition.
const Vector y{{0.3, -1.2, 2.0, 0.7}};
const Vector mean{{0.1, -1.0, 1.1, 0.9}};
const Vector variance{{0.04, 0.25, 0.16, 1.0}};
// The same with a missing target, whose prediction does not matter.
const Vector y_gap{{0.3, -1.2, nan, 2.0, 0.7}};
const Vector mean_gap{{0.1, -1.0, 99, 1.1, 0.9}};
const Vector variance_gap{{0.04, 0.25, 99, 0.16, 1.0}};

TEST(Metrics, ValuesWithAndWithoutMissingTargets) {
  EXPECT_NEAR(rmse(y, mean), 0.4821825380496477, 1e-15);
  EXPECT_NEAR(rmse(y_gap, mean_gap), 0.4821825380496477, 1e-15);
  EXPECT_NEAR(mae(y, mean), 0.375, 1e-15);
  EXPECT_NEAR(mae(y_gap, mean_gap), 0.375, 1e-15);
  EXPECT_NEAR(smse(y, mean), 0.17850287907869478, 1e-15);
  EXPECT_NEAR(smse(y_gap, mean_gap), 0.17850287907869478, 1e-15);
  EXPECT_NEAR(nlpd(y, mean, variance), 0.8970320769876222, 1e-14);
  EXPECT_NEAR(nlpd(y_gap, mean_gap, variance_gap), 0.8970320769876222, 1e-14);
  EXPECT_NEAR(crps(y, mean, variance), 0.299035960488051, 1e-10);
  EXPECT_NEAR(crps(y_gap, mean_gap, variance_gap), 0.299035960488051, 1e-10);
  const Vector expected{
      {0.8413447460685428, 0.3445782583896759, 0.9877755273449553, 0.42074029056089696}};
  EXPECT_NEAR((pit(y, mean, variance) - expected).norm(), 0, 1e-14);
  EXPECT_NEAR((pit(y_gap, mean_gap, variance_gap) - expected).norm(), 0, 1e-14);
}

TEST(Metrics, CoverageCountsTheCentralInterval) {
  // |z| = 1, 0.4, 2.25, 0.2
  EXPECT_EQ(coverage(y, mean, variance), 0.75);
  EXPECT_EQ(coverage(y_gap, mean_gap, variance_gap, 0.95), 0.75);
  EXPECT_EQ(coverage(y, mean, variance, 0.98), 1);   // q = 2.326
  EXPECT_EQ(coverage(y, mean, variance, 0.6), 0.5);  // q = 0.842
  const Vector edge{{1.9599, 1.9600}}, zero = Vector::Zero(2), one = Vector::Ones(2);
  EXPECT_EQ(coverage(edge, zero, one), 0.5);  // q = 1.95996
}

TEST(Metrics, CalibratedPredictionsScoreAsTheyShould) {
  Random random(11);
  const Index n = 20000;
  const Vector m = random.normal_vector(n), v = Vector::Constant(n, 0.25);
  const Vector t = m + 0.5 * random.normal_vector(n);
  EXPECT_NEAR(coverage(t, m, v), 0.95, 0.01);
  EXPECT_NEAR(pit(t, m, v).mean(), 0.5, 0.01);
  EXPECT_NEAR(crps(t, m, v), 0.5 / std::sqrt(M_PI), 0.01);  // E = σ/√π
  EXPECT_NEAR(nlpd(t, m, v), 0.5 * std::log(2 * M_PI * M_E * 0.25), 0.03);
  EXPECT_NEAR(smse(t, Vector::Constant(n, t.mean())), 1, 1e-12);
}

TEST(Metrics, CrpsOfASharpPredictionIsTheAbsoluteError) {
  const Vector tiny = Vector::Constant(4, 1e-20);
  EXPECT_NEAR(crps(y, mean, tiny), mae(y, mean), 1e-9);
}

TEST(Metrics, BadInputIsRefused) {
  const Vector two{{1, 2}}, three{{1, 2, 3}}, none(0), missing{{nan, nan}};
  EXPECT_THROW(rmse(two, three), InputError);
  EXPECT_THROW(nlpd(two, two, three), InputError);
  EXPECT_THROW(mae(none, none), InputError);
  for (auto score : {rmse, mae, smse}) EXPECT_THROW(score(missing, two), InputError);
  for (auto score : {nlpd, crps}) EXPECT_THROW(score(missing, two, two), InputError);
  EXPECT_THROW(coverage(missing, two, two), InputError);
  EXPECT_THROW(pit(missing, two, two), InputError);
  EXPECT_THROW(rmse(two, Vector{{1, nan}}), InputError);
  EXPECT_THROW(rmse(Vector{{1, inf}}, two), InputError);
  EXPECT_THROW(nlpd(two, two, Vector{{1, 0}}), InputError);
  EXPECT_THROW(crps(two, two, Vector{{-1, 1}}), InputError);
  EXPECT_THROW(crps(two, two, Vector{{nan, 1}}), InputError);
  EXPECT_THROW(smse(Vector{{0.1, 0.1, 0.1}}, three), InputError);
  for (double level : {0.0, 1.0, nan}) EXPECT_THROW(coverage(two, two, two, level), InputError);
}

}  // namespace
}  // namespace covary
