#include "covary/models/baselines.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "covary/data/class_generators.hpp"
#include "covary/data/classification_metrics.hpp"
#include "covary/data/generators.hpp"
#include "covary/data/metrics.hpp"
#include "covary/error.hpp"
#include "covary/linalg/parallel.hpp"

namespace covary {
namespace {

constexpr double nan = std::numeric_limits<double>::quiet_NaN();

NeighbourOptions neighbours(Index k, ScaleMode scale = ScaleMode::columns) { return {k, scale}; }

TEST(NearestRows, NearestFirstAndTheFirstOfEquals) {
  const RowMatrix X{{0.0}, {2.0}, {1.0}, {2.0}, {-5.0}};
  const NearestRows nearest(X, neighbours(3, ScaleMode::none));
  const auto rows = nearest.find(RowMatrix{{1.6}, {0.0}});
  const std::vector<Index> first{1, 3, 2}, second{0, 2, 1};
  for (Index n = 0; n < 3; ++n) {
    EXPECT_EQ(rows(0, n), first[static_cast<std::size_t>(n)]);
    EXPECT_EQ(rows(1, n), second[static_cast<std::size_t>(n)]);
  }
}

TEST(NearestRows, ScalingMakesUnitsIrrelevant) {
  const SyntheticData d = borehole_data(200, 1);
  const SyntheticData other = borehole_data(100, 2);
  RowMatrix X = d.X, Xnew = other.X;
  X.col(1) *= 1e-6;
  Xnew.col(1) *= 1e-6;
  EXPECT_EQ(NearestRows(d.X, {}).find(other.X), NearestRows(X, {}).find(Xnew));
  EXPECT_NE(NearestRows(d.X, neighbours(5, ScaleMode::none)).find(other.X),
            NearestRows(X, neighbours(5, ScaleMode::none)).find(Xnew));
}

TEST(NearestRows, TheNumberOfThreadsDoesNotMatter) {
  const SyntheticData d = friedman_data(300, 3);
  const NearestRows nearest(d.X, neighbours(7));
  const auto many = nearest.find(d.X);
  set_threads(1);
  EXPECT_EQ(nearest.find(d.X), many);
  set_threads(0);
  for (Index i = 0; i < 300; ++i) EXPECT_EQ(many(i, 0), i);  // itself
}

TEST(NeighbourClassifier, CountsWithOneMoreNeighbourForAll) {
  const RowMatrix X{{0.0}, {1.0}, {2.0}, {10.0}, {0.5}};
  const Vector labels{{0, 1, 1, 2, nan}};  // the last row does not count
  const NeighbourClassifier model(X, labels, 3, neighbours(3, ScaleMode::none));
  const RowMatrix P = model.predict(RowMatrix{{0.4}, {9.0}});
  const RowMatrix expected{{4.0 / 12, 7.0 / 12, 1.0 / 12}, {1.0 / 12, 7.0 / 12, 4.0 / 12}};
  EXPECT_LT((P - expected).cwiseAbs().maxCoeff(), 1e-15);
  const NeighbourClassifier one(X, labels, 3, neighbours(1));
  EXPECT_EQ(decided_classes(one.predict(X.topRows(4))), labels.head(4));
}

// With 41 of 3000 neighbours the wave is followed to within a few per cent of the best possible.
TEST(NeighbourClassifier, FollowsTheWave) {
  const SyntheticClasses train = wave_classes_data(3000, 1), test = wave_classes_data(2000, 2);
  const NeighbourClassifier model(train.X, train.labels, 2, neighbours(41));
  const RowMatrix P = model.predict(test.X);
  const double best = accuracy(test.labels, two_class_probabilities(test.probability));
  EXPECT_GT(accuracy(test.labels, P), best - 0.03);
  EXPECT_LT((P.col(1) - test.probability).cwiseAbs().mean(), 0.08);
}

TEST(NeighbourRegressor, MeanAndVarianceOfTheNeighbours) {
  const RowMatrix X{{0.0}, {1.0}, {2.0}, {10.0}, {0.1}};
  const Vector y{{1, 3, 8, 0, nan}};
  const double all = (4 + 0 + 25 + 9) / 4.0;
  const NeighbourRegressor model(X, y, neighbours(2, ScaleMode::none));
  const MeanVariance p = model.predict(RowMatrix{{0.4}, {9.0}});
  EXPECT_NEAR(p.mean[0], 2, 1e-15);
  EXPECT_NEAR(p.variance[0], 1.5 * (2 + all) / 2, 1e-14);
  EXPECT_NEAR(p.mean[1], 4, 1e-15);
  EXPECT_NEAR(p.variance[1], 1.5 * (32 + all) / 2, 1e-14);
  EXPECT_NEAR(NeighbourRegressor(X, y, neighbours(1)).predict(X).variance[0], 2 * all, 1e-14);
}

TEST(NeighbourRegressor, BeatsTheMean) {
  const SyntheticData train = snelson_like_data(300, 1), test = snelson_like_data(300, 2);
  const MeanVariance near = NeighbourRegressor(train.X, train.y, neighbours(10)).predict(test.X),
                     mean = MeanPredictor(train.y).predict(300);
  EXPECT_LT(rmse(test.y, near.mean), 0.5 * rmse(test.y, mean.mean));
  EXPECT_LT(nlpd(test.y, near.mean, near.variance), nlpd(test.y, mean.mean, mean.variance));
}

TEST(MeanPredictor, MeanAndVariance) {
  const MeanVariance p = MeanPredictor(Vector{{1, nan, 3, 8}}).predict(2);
  EXPECT_EQ(p.mean, Vector::Constant(2, 4));
  EXPECT_NEAR(p.variance[1], 26.0 / 3, 1e-14);
  EXPECT_EQ(MeanPredictor(Vector{{5, 5}}).predict(1).variance[0], 0);
}

TEST(MajorityPredictor, SharesOfTheClasses) {
  const RowMatrix P = MajorityPredictor(Vector{{0, 1, 1, nan, 1}}, 4).predict(2);
  EXPECT_LT((P.row(1) - RowMatrix{{1.25, 3.25, 0.25, 0.25}} / 5).cwiseAbs().maxCoeff(), 1e-15);
  EXPECT_EQ(P.row(0), P.row(1));
  EXPECT_EQ(decided_classes(P)[0], 1);
}

TEST(Baselines, BadInputIsRefused) {
  const RowMatrix X{{0.0}, {1.0}, {2.0}};
  const Vector y{{0, 1, 1}};
  EXPECT_THROW(NeighbourClassifier(X, y, 2, neighbours(4)), InputError);
  EXPECT_THROW(NeighbourClassifier(X, y, 2, neighbours(0)), InputError);
  EXPECT_THROW(NeighbourClassifier(X, Vector{{0, nan, 1}}, 2, neighbours(3)), InputError);
  EXPECT_THROW(NeighbourClassifier(X, 2 * y, 2, neighbours(1)), InputError);
  EXPECT_THROW(NeighbourClassifier(X, y, 1, neighbours(1)), InputError);
  EXPECT_THROW(NeighbourRegressor(X, y.head(2), neighbours(1)), InputError);
  EXPECT_THROW(NeighbourRegressor(RowMatrix{{0.0}, {nan}}, y.head(2), neighbours(1)), InputError);
  EXPECT_THROW(NeighbourRegressor(X, Vector::Constant(3, nan), neighbours(1)), InputError);
  const NeighbourRegressor model(X, y, neighbours(1));
  EXPECT_THROW(model.predict(RowMatrix(1, 2)), InputError);
  EXPECT_THROW(model.predict(RowMatrix{{nan}}), InputError);
  EXPECT_THROW(MeanPredictor(Vector::Constant(2, nan)), InputError);
  EXPECT_THROW(MeanPredictor(Vector{{1, std::numeric_limits<double>::infinity()}}), InputError);
  EXPECT_THROW(MajorityPredictor(Vector::Constant(2, nan), 2), InputError);
  EXPECT_THROW(MajorityPredictor(Vector{{0, 3}}, 2), InputError);
  EXPECT_THROW(MajorityPredictor(Vector{{0, 0}}, -1), InputError);
}

}  // namespace
}  // namespace covary
