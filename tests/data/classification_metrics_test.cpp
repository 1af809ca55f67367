#include "covary/data/classification_metrics.hpp"

#include <cmath>
#include <limits>

#include "covary/error.hpp"
#include "covary/random/random.hpp"
#include "data/scratch.hpp"

namespace covary {
namespace {

constexpr double nan = std::numeric_limits<double>::quiet_NaN();
constexpr double inf = std::numeric_limits<double>::infinity();

// Reference values are sums over rows and over pairs of rows, written out in Python.
const Vector y{{1, 0, 1, 1, 0, 1}};
const Vector p{{0.9, 0.4, 0.4, 0.7, 0.6, 0.2}};
const Vector y3{{0, 1, 2, 2, 1, 0}};
const RowMatrix P3{{0.7, 0.2, 0.1}, {0.3, 0.4, 0.3}, {0.1, 0.2, 0.7},
                   {0.5, 0.3, 0.2}, {0.2, 0.6, 0.2}, {0.25, 0.5, 0.25}};

struct Random2 {
  Vector labels, p;
};
// Labels drawn with their own probabilities.
Random2 calibrated(Index n, std::uint64_t seed) {
  Random random(seed);
  Random2 out{Vector(n), Vector(n)};
  for (Index i = 0; i < n; ++i) {
    out.p[i] = random.uniform();
    out.labels[i] = random.uniform() < out.p[i];
  }
  return out;
}

TEST(ClassificationMetrics, ValuesForTwoClasses) {
  const RowMatrix P = two_class_probabilities(p);
  EXPECT_EQ(accuracy(y, P), 0.5);
  EXPECT_NEAR(nlpd(y, P), 0.7358134099241599, 1e-15);
  EXPECT_NEAR(brier(y, P), 0.54, 1e-15);
  EXPECT_EQ(auc(y, p), 0.5625);  // 4.5 of 8 pairs
  EXPECT_EQ(macro_auc(y, P), 0.5625);
  EXPECT_EQ(confusion_matrix(y, P), (Matrix{{1, 1}, {2, 2}}));
  EXPECT_NEAR(expected_calibration_error(y, P, 4), 0.7 / 3, 1e-15);
}

TEST(ClassificationMetrics, ValuesForThreeClasses) {
  EXPECT_NEAR(accuracy(y3, P3), 4.0 / 6, 1e-15);
  EXPECT_NEAR(nlpd(y3, P3), 0.8560330861786003, 1e-15);
  EXPECT_NEAR(brier(y3, P3), 0.4858333333333334, 1e-15);
  EXPECT_NEAR(macro_auc(y3, P3), (0.75 + 0.875 + 0.6875) / 3, 1e-15);
  EXPECT_EQ(confusion_matrix(y3, P3), (Matrix{{1, 1, 0}, {0, 2, 0}, {1, 0, 1}}));
  EXPECT_NEAR(expected_calibration_error(y3, P3, 4), 0.1, 1e-15);
  EXPECT_NEAR(expected_calibration_error(y3, P3), 2.6 / 6, 1e-15);
}

TEST(ClassificationMetrics, MissingLabelsDoNotCountWhateverIsPredictedThere) {
  Vector labels(8);
  labels << nan, y3, nan;
  RowMatrix P = RowMatrix::Constant(8, 3, nan);
  P.middleRows(1, 6) = P3;
  const ClassificationScores found = classification_scores(labels, P),
                             expected = classification_scores(y3, P3);
  EXPECT_EQ(found.rows, 6);
  EXPECT_EQ(found.accuracy, expected.accuracy);
  EXPECT_EQ(found.nlpd, expected.nlpd);
  EXPECT_EQ(found.brier, expected.brier);
  EXPECT_EQ(found.ece, expected.ece);
  EXPECT_EQ(*found.auc, *expected.auc);
  EXPECT_EQ(confusion_matrix(labels, P), confusion_matrix(y3, P3));
  EXPECT_EQ(auc(Vector{{1, nan, 0}}, Vector{{2, inf, 3}}), 0);
}

TEST(ClassificationMetrics, AllScoresAreTheSingleOnes) {
  const ClassificationScores s = classification_scores(y3, P3);
  EXPECT_EQ(s.accuracy, accuracy(y3, P3));
  EXPECT_EQ(s.nlpd, nlpd(y3, P3));
  EXPECT_EQ(s.brier, brier(y3, P3));
  EXPECT_EQ(s.ece, expected_calibration_error(y3, P3));
  EXPECT_EQ(*s.auc, macro_auc(y3, P3));
  EXPECT_FALSE(classification_scores(Vector::Ones(6), P3).auc);
}

TEST(ClassificationMetrics, TheThresholdIsReachedByEquality) {
  const RowMatrix P = two_class_probabilities(p);
  EXPECT_EQ(decided_classes(P), (Vector{{1, 0, 0, 1, 1, 0}}));
  EXPECT_EQ(decided_classes(P, 0.4), (Vector{{1, 1, 1, 1, 1, 0}}));
  EXPECT_EQ(decided_classes(P, 1), Vector::Zero(6));
  EXPECT_EQ(decided_classes(P, 0), Vector::Ones(6));
  EXPECT_NEAR(accuracy(y, P, 0.4), 0.5, 1e-15);
  EXPECT_NEAR(accuracy(y, P, 0), 4.0 / 6, 1e-15);
  EXPECT_EQ(confusion_matrix(y, P, 0.4), (Matrix{{0, 2}, {1, 3}}));
  // An even chance is the second of two classes; of more, the first of equals.
  EXPECT_EQ(decided_classes(RowMatrix{{0.5, 0.5}})[0], 1);
  EXPECT_EQ(decided_classes(RowMatrix{{0.2, 0.4, 0.4}}, 0.9)[0], 1);
}

TEST(ClassificationMetrics, T19AccuracyIgnoresMonotoneMapsThatKeepOneHalf) {
  const Random2 r = calibrated(500, 1);
  const Vector mapped =
      r.p.unaryExpr([](double q) { return 0.5 + 4 * std::pow(q - 0.5, 3); });  // keeps 0, ½, 1
  const double found = accuracy(r.labels, two_class_probabilities(r.p));
  EXPECT_EQ(accuracy(r.labels, two_class_probabilities(mapped)), found);
  EXPECT_GT(found, 0.65);
  EXPECT_LT(found, 0.85);
  EXPECT_EQ(accuracy(r.labels, two_class_probabilities(r.labels)), 1);
  EXPECT_EQ(accuracy(r.labels, two_class_probabilities(1 - r.labels.array())), 0);
}

TEST(ClassificationMetrics, T19AreaIgnoresMonotoneMaps) {
  const Random2 r = calibrated(500, 2);
  const double found = auc(r.labels, r.p);
  EXPECT_EQ(auc(r.labels, r.p.array().exp().matrix()), found);
  EXPECT_EQ(auc(r.labels, (100 * r.p).array() - 7), found);
  EXPECT_NEAR(auc(r.labels, -r.p), 1 - found, 1e-12);
  EXPECT_EQ(auc(r.labels, Vector::Constant(500, 0.3)), 0.5);
  EXPECT_EQ(auc(r.labels, r.labels), 1);
  // P(one's score > zero's) is 5/6 here: the densities are 2q and 2(1 − q). The variance of an area
  // A is at most A(1 − A)/min(ones, zeros), so five standard errors are 0.12.
  EXPECT_NEAR(found, 5.0 / 6, 0.12);
}

TEST(ClassificationMetrics, AreaOfScoresWithTies) {
  Random random(3);
  Vector labels(60), scores(60);
  for (Index i = 0; i < 60; ++i) {
    labels[i] = static_cast<double>(random.integer(2));
    scores[i] = static_cast<double>(random.integer(5)) + labels[i];
  }
  double pairs = 0, in_order = 0;
  for (Index i = 0; i < 60; ++i)
    for (Index j = 0; j < 60; ++j)
      if (labels[i] == 1 && labels[j] == 0) {
        pairs += 1;
        in_order += scores[i] > scores[j] ? 1 : scores[i] == scores[j] ? 0.5 : 0;
      }
  EXPECT_NEAR(auc(labels, scores), in_order / pairs, 1e-14);
}

TEST(ClassificationMetrics, RocCurveRisesFromCornerToCorner) {
  const RocCurve roc = roc_curve(y, p);
  EXPECT_EQ(roc.thresholds, (Vector{{inf, 0.9, 0.7, 0.6, 0.4, 0.2}}));
  EXPECT_EQ(roc.true_positive, (Vector{{0, 0.25, 0.5, 0.5, 0.75, 1}}));
  EXPECT_EQ(roc.false_positive, (Vector{{0, 0, 0, 0.5, 1, 1}}));
  const Random2 r = calibrated(300, 4);
  const Vector rounded = (20 * r.p).array().round() / 20;
  const RocCurve many = roc_curve(r.labels, rounded);
  double below = 0;  // trapezia
  for (Index i = 1; i < many.thresholds.size(); ++i)
    below += (many.false_positive[i] - many.false_positive[i - 1]) *
             (many.true_positive[i] + many.true_positive[i - 1]) / 2;
  EXPECT_NEAR(below, auc(r.labels, rounded), 1e-13);
  EXPECT_EQ(many.thresholds.size(), 22);
}

TEST(ClassificationMetrics, AClassThatDoesNotOccurHasNoArea) {
  RowMatrix P(6, 4);
  P << P3, Vector::Zero(6);
  EXPECT_EQ(macro_auc(y3, P), macro_auc(y3, P3));
}

TEST(ClassificationMetrics, ReliabilityTable) {
  const Reliability r = reliability(y, two_class_probabilities(p), 4);
  ASSERT_EQ(r.bins.size(), 4u);
  const std::vector<Index> counts{1, 2, 2, 1};  // 0.2 | 0.4 0.4 | 0.7 0.6 | 0.9
  const Vector mean{{0.2, 0.4, 0.65, 0.9}}, frequency{{1, 0.5, 0.5, 1}};
  for (Index b = 0; b < 4; ++b) {
    const Reliability::Bin& bin = r.bins[static_cast<std::size_t>(b)];
    EXPECT_EQ(bin.lower, 0.25 * static_cast<double>(b));
    EXPECT_EQ(bin.upper, 0.25 * static_cast<double>(b + 1));
    EXPECT_EQ(bin.count, counts[static_cast<std::size_t>(b)]);
    EXPECT_NEAR(bin.mean_probability, mean[b], 1e-15);
    EXPECT_NEAR(bin.frequency, frequency[b], 1e-15);
  }
  // Certainty falls into the last bin; an empty one has no means.
  const Reliability ends = reliability(Vector{{1, 0}}, RowMatrix{{0, 1}, {1, 0}}, 3);
  EXPECT_EQ(ends.bins[0].count, 1);
  EXPECT_EQ(ends.bins[2].count, 1);
  EXPECT_TRUE(std::isnan(ends.bins[1].frequency));
  EXPECT_EQ(ends.error, 0);
}

// Of 20000 calibrated rows each of 15 bins holds about 1333, with a standard error of at most 0.014
// that Σ |·|/15 averages to below 0.012; sharpening by a logit of 2 moves the bins by far more.
TEST(ClassificationMetrics, CalibratedProbabilitiesHaveASmallError) {
  const Random2 r = calibrated(20000, 5);
  const Vector sharp = r.p.unaryExpr([](double q) { return q * q / (q * q + (1 - q) * (1 - q)); });
  EXPECT_LT(expected_calibration_error(r.labels, two_class_probabilities(r.p)), 0.02);
  EXPECT_GT(expected_calibration_error(r.labels, two_class_probabilities(sharp)), 0.05);
  EXPECT_LT(nlpd(r.labels, two_class_probabilities(r.p)),
            nlpd(r.labels, two_class_probabilities(sharp)));
  EXPECT_LT(brier(r.labels, two_class_probabilities(r.p)),
            brier(r.labels, two_class_probabilities(sharp)));
}

TEST(ClassificationMetrics, ALabelGivenNoChanceCostsInfinitely) {
  EXPECT_EQ(nlpd(Vector{{0, 1}}, RowMatrix{{0, 1}, {0.5, 0.5}}), inf);
  EXPECT_EQ(nlpd(Vector{{1, 0}}, RowMatrix{{0, 1}, {1, 0}}), 0);
  // Rounding may leave a probability a little outside [0, 1].
  EXPECT_EQ(nlpd(Vector{{1.0}}, RowMatrix{{-1e-16, 1 + 1e-16}}), 0);
}

TEST(ClassificationMetrics, BadInputIsRefused) {
  const RowMatrix P = two_class_probabilities(p);
  const auto message = [](auto call) { return message_of<InputError>(call); };
  const auto expect_in = [](const std::string& text, const char* part) {
    EXPECT_NE(text.find(part), std::string::npos) << text;
  };
  expect_in(message([&] { accuracy(y.head(5), P); }), "5 labels but 6 rows");
  expect_in(message([&] {
              nlpd(Vector{{0, 2}}, P.topRows(2));
            }),
            "row 1 is 2; classes are numbered 0 to 1");
  expect_in(message([&] { nlpd(Vector{{0, 0.5}}, P.topRows(2)); }), "row 1 is 0.5");
  expect_in(message([&] { brier(Vector::Constant(6, nan), P); }), "none of the 6 rows");
  expect_in(message([&] { brier(Vector{{0}}, RowMatrix{{0.5, 0.4}}); }), "row 0 sum to 0.9");
  expect_in(message([&] {
              brier(Vector{{0}}, RowMatrix{{1.5, -0.5}});
            }),
            "class 0 at row 0 is 1.5");
  expect_in(message([&] { brier(Vector{{0}}, RowMatrix{{nan, 0.5}}); }), "class 0 at row 0 is nan");
  expect_in(message([&] { brier(y, RowMatrix(p)); }), "two_class_probabilities");
  expect_in(message([&] { accuracy(y, P, 1.5); }), "threshold is 1.5");
  expect_in(message([&] { auc(Vector::Ones(6), p); }), "all 6 labels are 1");
  expect_in(message([&] { macro_auc(Vector::Zero(6), P); }), "all 6 labels are 0");
  expect_in(message([&] { auc(y, p.head(3)); }), "3 scores");
  expect_in(message([&] { auc(Vector{{0, 1}}, Vector{{0, nan}}); }), "score at row 1");
  expect_in(message([&] { auc(Vector{{0, 2}}, Vector{{0, 1}}); }), "row 1 is 2");
  EXPECT_THROW(reliability(y, P, 0), InputError);
}

}  // namespace
}  // namespace covary
