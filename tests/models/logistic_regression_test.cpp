#include "covary/models/logistic_regression.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "covary/data/class_generators.hpp"
#include "covary/data/classification_metrics.hpp"
#include "covary/data/split.hpp"
#include "covary/error.hpp"
#include "covary/random/random.hpp"

namespace covary {
namespace {

constexpr double nan = std::numeric_limits<double>::quiet_NaN();

struct Classes {
  RowMatrix X;
  Vector labels;
};

// Labels of a linear softmax model with inputs of very different units.
Classes linear_classes(Index n, Index K, std::uint64_t seed) {
  Random random(seed);
  const Index D = 3;
  Classes out{random.normal_matrix(n, D), Vector(n)};
  const RowMatrix w = random.normal_matrix(K, D + 1);
  for (Index i = 0; i < n; ++i) {
    double best = -1e300;
    for (Index k = 0; k < K; ++k) {
      double logit = w(k, D);
      for (Index d = 0; d < D; ++d) logit += w(k, d) * out.X(i, d);
      logit -= std::log(random.exponential());  // Gumbel noise: the largest is a draw of softmax
      if (logit > best) best = logit, out.labels[i] = static_cast<double>(k);
    }
  }
  out.X.col(0) = 1e4 + 300 * out.X.col(0).array();
  out.X.col(2) *= 1e-3;
  return out;
}

// Xᵀ(1[y = k] − p_k) and the same for the intercept, over the length of the columns.
double largest_slope(const Classes& d, const RowMatrix& P) {
  double largest = 0;
  for (Index k = 0; k < P.cols(); ++k) {
    const Vector error =
        (d.labels.array() == static_cast<double>(k)).cast<double>() - P.col(k).array();
    largest = std::max(largest, std::abs(error.sum()));
    for (Index j = 0; j < d.X.cols(); ++j)
      largest = std::max(largest, std::abs((d.X.col(j).array() * error.array()).sum()) /
                                      d.X.col(j).cwiseAbs().maxCoeff());
  }
  return largest;
}

LogisticOptions ridge(double value) {
  LogisticOptions o;
  o.ridge = value;
  return o;
}

void expect_in(const std::string& text, const std::string& part) {
  EXPECT_NE(text.find(part), std::string::npos) << text;
}

TEST(LogisticRegression, T20TheGradientVanishesAtTheEstimate) {
  for (const Index K : {2, 3, 5}) {
    const Classes d = linear_classes(400, K, 1);
    const LogisticFit fit = fit_logistic_regression(d.X, d.labels, K);
    ASSERT_TRUE(fit.fitted()) << fit.message;
    EXPECT_LT(fit.iterations, 15);
    const RowMatrix P = fit.predict(d.X);
    EXPECT_LT(largest_slope(d, P), 1e-6);
    EXPECT_NEAR(fit.log_likelihood, -400 * nlpd(d.labels, P), 1e-8);
    EXPECT_EQ(fit.weights.col(0), Vector::Zero(3));
    EXPECT_GT(accuracy(d.labels, P), 1.3 / static_cast<double>(K));
  }
}

// One indicator input: the estimates are log odds of counts.
TEST(LogisticRegression, ClosedFormOfAnIndicator) {
  // (x, label): how many
  const Index counts[2][3] = {{10, 20, 5}, {8, 4, 30}};
  Classes d{RowMatrix(77, 1), Vector(77)};
  Index row = 0;
  for (Index x = 0; x < 2; ++x)
    for (Index k = 0; k < 3; ++k)
      for (Index c = 0; c < counts[x][k]; ++c, ++row) {
        d.X(row, 0) = static_cast<double>(x);
        d.labels[row] = static_cast<double>(k);
      }
  ASSERT_EQ(row, 77);
  const LogisticFit fit = fit_logistic_regression(d.X, d.labels, 3);
  ASSERT_TRUE(fit.fitted()) << fit.message;
  EXPECT_NEAR(fit.intercepts[1], std::log(20.0 / 10), 1e-8);
  EXPECT_NEAR(fit.intercepts[2], std::log(5.0 / 10), 1e-8);
  EXPECT_NEAR(fit.weights(0, 1), std::log((4.0 / 8) / (20.0 / 10)), 1e-8);
  EXPECT_NEAR(fit.weights(0, 2), std::log((30.0 / 8) / (5.0 / 10)), 1e-8);
  const RowMatrix P = fit.predict(RowMatrix{{0}, {1}});
  EXPECT_NEAR(P(0, 1), 20.0 / 35, 1e-9);
  EXPECT_NEAR(P(1, 2), 30.0 / 42, 1e-9);
}

TEST(LogisticRegression, WithoutAnInterceptTheOriginIsEven) {
  Classes d = linear_classes(300, 3, 2);
  d.X.col(0).array() -= 1e4;
  LogisticOptions o;
  o.intercept = false;
  const LogisticFit fit = fit_logistic_regression(d.X, d.labels, 3, o);
  ASSERT_TRUE(fit.fitted()) << fit.message;
  EXPECT_EQ(fit.intercepts, Vector::Zero(3));
  const RowMatrix even = fit.predict(RowMatrix::Zero(1, 3));
  for (Index k = 0; k < 3; ++k) EXPECT_NEAR(even(0, k), 1.0 / 3, 1e-15);
  const RowMatrix P = fit.predict(d.X);
  for (Index k = 0; k < 3; ++k)
    for (Index j = 0; j < 3; ++j) {
      const auto error =
          (d.labels.array() == static_cast<double>(k)).cast<double>() - P.col(k).array();
      EXPECT_LT(std::abs((d.X.col(j).array() * error).sum()),
                1e-6 * d.X.col(j).cwiseAbs().maxCoeff());
    }
}

TEST(LogisticRegression, UnitsAndTheOrderOfTheClassesDoNotMatter) {
  for (const Index K : {2, 3})
    for (const double lambda : {0.0, 2.0}) {
      const Classes d = linear_classes(200, K, 3);
      Classes other = d;
      other.X.col(1) = 5e3 * d.X.col(1).array() + 7;
      other.labels = static_cast<double>(K - 1) - d.labels.array();
      const RowMatrix P = fit_logistic_regression(d.X, d.labels, K, ridge(lambda)).predict(d.X);
      const RowMatrix Q =
          fit_logistic_regression(other.X, other.labels, K, ridge(lambda)).predict(other.X);
      EXPECT_LT((P - Q.rowwise().reverse()).cwiseAbs().maxCoeff(), 1e-7) << K << ' ' << lambda;
    }
}

TEST(LogisticRegression, MissingLabelsAreLeftOut) {
  const Classes d = linear_classes(100, 2, 4);
  Classes more{RowMatrix(102, 3), Vector(102)};
  more.X << d.X.topRows(50), RowMatrix::Constant(2, 3, 1e6), d.X.bottomRows(50);
  more.labels << d.labels.head(50), nan, nan, d.labels.tail(50);
  EXPECT_EQ(fit_logistic_regression(more.X, more.labels, 2).weights,
            fit_logistic_regression(d.X, d.labels, 2).weights);
}

// The penalised gradient vanishes: Xᵀ(y − p) = λ w in standardised inputs.
TEST(LogisticRegression, ARidgeShrinksTheWeights) {
  const Classes d = linear_classes(200, 2, 5);
  double before = std::numeric_limits<double>::infinity();
  for (const double lambda : {0.0, 1.0, 100.0}) {
    const LogisticFit fit = fit_logistic_regression(d.X, d.labels, 2, ridge(lambda));
    ASSERT_TRUE(fit.fitted());
    const RowMatrix P = fit.predict(d.X);
    double size = 0;
    for (Index j = 0; j < 3; ++j) {
      const Vector centred = d.X.col(j).array() - d.X.col(j).mean();
      const double sd = std::sqrt(centred.squaredNorm() / 200), w = fit.weights(j, 1) * sd;
      const double slope = (centred.array() * (d.labels - P.col(1)).array()).sum() / sd;
      EXPECT_NEAR(slope, lambda * w, 1e-7);
      size += w * w;
    }
    EXPECT_NEAR((d.labels - P.col(1)).sum(), 0, 1e-7);  // the intercept is free
    EXPECT_LT(size, before);
    before = size;
  }
}

TEST(LogisticRegression, T20SeparatedClassesAreReported) {
  const RowMatrix X{{0.0}, {1.0}, {2.0}, {3.0}};
  const LogisticFit fit = fit_logistic_regression(X, Vector{{0, 0, 1, 1}}, 2);
  EXPECT_EQ(fit.outcome, LogisticOutcome::separated);
  expect_in(fit.message, "a hyperplane separates the classes");
  expect_in(fit.message, "ridge");
  EXPECT_EQ(fit.weights.size(), 0);
  EXPECT_THROW(fit.predict(X), NumericalError);
  // The remedy that the message names.
  const LogisticFit penalised = fit_logistic_regression(X, Vector{{0, 0, 1, 1}}, 2, ridge(1));
  ASSERT_TRUE(penalised.fitted());
  EXPECT_NEAR(penalised.predict(RowMatrix{{1.5}})(0, 1), 0.5, 1e-9);
  // Three classes side by side.
  const RowMatrix X3{{0.0}, {1.0}, {2.0}, {3.0}, {4.0}, {5.0}};
  EXPECT_EQ(fit_logistic_regression(X3, Vector{{0, 0, 1, 1, 2, 2}}, 3).outcome,
            LogisticOutcome::separated);
  // With one exchange there is an estimate.
  EXPECT_TRUE(fit_logistic_regression(X, Vector{{0, 1, 0, 1}}, 2).fitted());
}

TEST(LogisticRegression, QuasiSeparationIsReportedWithItsColumn) {
  Classes d = linear_classes(120, 2, 6);
  d.X.col(1).setZero();
  for (Index i = 0; i < 120; ++i)  // every row with the indicator is of class 1
    if (i % 10 == 0) d.X(i, 1) = 1, d.labels[i] = 1;
  LogisticOptions o;
  o.input_names = {"income", "has <card>", "age"};
  const LogisticFit fit = fit_logistic_regression(d.X, d.labels, 2, o);
  EXPECT_EQ(fit.outcome, LogisticOutcome::separated);
  expect_in(fit.message, "ruled out for 12 of 120 rows");
  expect_in(fit.message, "'has <card>'");
  // One row of the other class is enough for an estimate, however large.
  d.labels[50] = 0;
  EXPECT_TRUE(fit_logistic_regression(d.X, d.labels, 2, o).fitted());
  // Rows on the hyperplane, with both labels, and none on the wrong side.
  const RowMatrix X{{-1.0}, {-2.0}, {0.0}, {0.0}, {1.0}, {3.0}};
  EXPECT_EQ(fit_logistic_regression(X, Vector{{0, 0, 0, 1, 1, 1}}, 2).outcome,
            LogisticOutcome::separated);
  // A class of three that an indicator never meets.
  Classes three = linear_classes(200, 3, 7);
  for (Index i = 0; i < 200; ++i) {
    three.X(i, 1) = i % 4 == 0;
    if (i % 4 == 0 && three.labels[i] == 2) three.labels[i] = 1;
  }
  const LogisticFit fit3 = fit_logistic_regression(three.X, three.labels, 3);
  EXPECT_EQ(fit3.outcome, LogisticOutcome::separated);
  expect_in(
      fit3.message,
      "ruled out for 50 of 200 rows at no cost to the others, mostly by the weight of column 1");
}

TEST(LogisticRegression, T20DependentColumnsAreReported) {
  const Classes d = linear_classes(60, 2, 8);
  RowMatrix X(60, 6);
  X << d.X, 2 * d.X.col(1), d.X.col(0) - 3e5 * d.X.col(2), Vector::Constant(60, 0.1);
  LogisticOptions o;
  o.input_names = {"a", "b", "c", "d", "e", "f"};
  const LogisticFit fit = fit_logistic_regression(X, d.labels, 2, o);
  EXPECT_EQ(fit.outcome, LogisticOutcome::singular);
  expect_in(fit.message, "column 'd' repeats column 'b'");
  expect_in(fit.message, "column 'e' is a combination of 'a', 'c'");
  expect_in(fit.message, "column 'f' is constant");
  EXPECT_THROW(fit.predict(X), NumericalError);
  // A penalty makes it unique, and equal columns share their weight.
  const LogisticFit penalised = fit_logistic_regression(X, d.labels, 2, ridge(1));
  ASSERT_TRUE(penalised.fitted());
  EXPECT_NEAR(penalised.weights(1, 1), 2 * penalised.weights(3, 1), 1e-8);
  // Without names columns go by their numbers; without an intercept a constant is a column.
  LogisticOptions bare;
  bare.intercept = false;
  const LogisticFit three = fit_logistic_regression(X.leftCols(4), d.labels, 2, bare);
  expect_in(three.message, "column 3 repeats column 1");
  RowMatrix constant(60, 2);
  constant << d.X.col(1), Vector::Constant(60, 0.1);
  EXPECT_TRUE(fit_logistic_regression(constant, d.labels, 2, bare).fitted());
  // More weights than rows.
  const LogisticFit few = fit_logistic_regression(d.X.topRows(3), Vector{{0, 1, 0}}, 2);
  EXPECT_EQ(few.outcome, LogisticOutcome::singular);
  expect_in(few.message, "4 weights for 3 rows");
}

TEST(LogisticRegression, TooFewIterationsAreReported) {
  const Classes d = linear_classes(200, 3, 9);
  LogisticOptions o;
  o.max_iterations = 2;
  const LogisticFit fit = fit_logistic_regression(d.X, d.labels, 3, o);
  EXPECT_EQ(fit.outcome, LogisticOutcome::not_converged);
  expect_in(fit.message, "2 iterations");
  EXPECT_THROW(fit.predict(d.X), NumericalError);
  EXPECT_THROW(LogisticFit{}.predict(d.X), NumericalError);
}

// Test accuracies of a line where the truth is a wave or bands, over five splits of 75 to 25.
TEST(LogisticRegression, T22StraightLinesMissTheSimulations) {
  const auto mean_accuracy = [](const auto& make) {
    double sum = 0;
    for (std::uint64_t seed = 0; seed < 5; ++seed) {
      const SyntheticClasses d = make(seed);
      const Split s = train_test_split(d.X.rows(), 0.25, seed);
      const LogisticFit fit =
          fit_logistic_regression(take_rows(d.X, s.train), d.labels(s.train), 2);
      EXPECT_TRUE(fit.fitted()) << fit.message;
      sum += accuracy(d.labels(s.test), fit.predict(take_rows(d.X, s.test))) / 5;
    }
    return sum;
  };
  const double wave = mean_accuracy([](auto seed) { return wave_classes_data(1500, seed); });
  EXPECT_GT(wave, 0.55);
  EXPECT_LT(wave, wave_classes_rates().accuracy - 0.08);
  for (const Bands reading : {Bands::inside, Bands::printed}) {
    const double bands =
        mean_accuracy([&](auto seed) { return band_classes_data(1500, seed, reading); });
    EXPECT_GT(bands, 0.40);
    EXPECT_LT(bands, 0.60);
  }
}

TEST(LogisticRegression, BadInputIsRefused) {
  const Classes d = linear_classes(20, 2, 10);
  const Vector labels = d.labels;
  EXPECT_THROW(fit_logistic_regression(d.X, labels.head(19), 2), InputError);
  EXPECT_THROW(fit_logistic_regression(d.X, labels, 1), InputError);
  EXPECT_THROW(fit_logistic_regression(d.X, 2 * labels, 2), InputError);
  EXPECT_THROW(fit_logistic_regression(d.X, labels, 3), InputError);  // none of class 2
  EXPECT_THROW(fit_logistic_regression(d.X, Vector::Constant(20, nan), 2), InputError);
  EXPECT_THROW(fit_logistic_regression(RowMatrix(0, 3), Vector(0), 2), InputError);
  RowMatrix hole = d.X;
  hole(3, 1) = nan;
  EXPECT_THROW(fit_logistic_regression(hole, labels, 2), InputError);
  EXPECT_THROW(fit_logistic_regression(d.X, labels, 2, ridge(-1)), InputError);
  LogisticOptions o;
  o.max_iterations = 0;
  EXPECT_THROW(fit_logistic_regression(d.X, labels, 2, o), InputError);
  const LogisticFit fit = fit_logistic_regression(d.X, labels, 2, ridge(1));
  EXPECT_THROW(fit.predict(d.X.leftCols(2)), InputError);
  EXPECT_THROW(fit.predict(hole), InputError);
}

}  // namespace
}  // namespace covary
