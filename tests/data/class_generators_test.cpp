#include "covary/data/class_generators.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "covary/data/classification_metrics.hpp"
#include "covary/error.hpp"

namespace covary {
namespace {

constexpr Index many = 40000;

// A mean of n values with standard deviation sd lies within five standard errors of its expectation
// in all but two of a million seeds.
double margin(double sd) { return 5 * sd / std::sqrt(static_cast<double>(many)); }
double draw_margin(double rate) { return margin(std::sqrt(rate * (1 - rate))); }

// The accuracy of the true probabilities on the labels drawn.
double true_accuracy(const SyntheticClasses& data) {
  return accuracy(data.labels, two_class_probabilities(data.probability));
}

TEST(ClassGenerators, T21RatesOfTheWave) {
  const BayesRates rates = wave_classes_rates();
  EXPECT_NEAR(rates.class_rate, 0.6620, 5e-5);
  EXPECT_NEAR(rates.accuracy, 0.8706, 5e-5);
  EXPECT_NEAR(rates.nlpd, 0.34473, 5e-6);
  const SyntheticClasses data = wave_classes_data(many, 1);
  EXPECT_NEAR(data.labels.mean(), rates.class_rate, draw_margin(rates.class_rate));
  EXPECT_NEAR(true_accuracy(data), rates.accuracy, draw_margin(rates.accuracy));
  // The log score of one row has a standard deviation below 0.7.
  EXPECT_NEAR(nlpd(data.labels, two_class_probabilities(data.probability)), rates.nlpd,
              margin(0.7));
  // Averaged over the inputs alone: p and max(p, 1 − p) vary by at most a half.
  EXPECT_NEAR(bayes_rates(data).class_rate, rates.class_rate, margin(0.5));
  EXPECT_NEAR(bayes_rates(data).accuracy, rates.accuracy, margin(0.25));
  EXPECT_NEAR(bayes_rates(data).nlpd, rates.nlpd, margin(0.35));
}

TEST(ClassGenerators, T21RatesOfTheBandsInBothReadings) {
  const BayesRates inside = band_classes_rates(), printed = band_classes_rates(Bands::printed);
  EXPECT_NEAR(inside.accuracy, 0.8794, 5e-5);
  EXPECT_NEAR(inside.class_rate, 0.504, 5e-4);
  EXPECT_NEAR(printed.accuracy, 0.6939, 5e-5);
  EXPECT_NEAR(printed.class_rate, 0.502, 5e-4);
  for (const Bands reading : {Bands::inside, Bands::printed}) {
    const BayesRates rates = band_classes_rates(reading);
    const SyntheticClasses data = band_classes_data(many, 2, reading);
    EXPECT_NEAR(data.labels.mean(), rates.class_rate, draw_margin(rates.class_rate));
    EXPECT_NEAR(true_accuracy(data), rates.accuracy, draw_margin(rates.accuracy));
    EXPECT_NEAR(bayes_rates(data).accuracy, rates.accuracy, margin(0.25));
  }
  // Even the most certain input of the printed reading has a chance of one in five to be otherwise.
  EXPECT_NEAR(band_classes_data(many, 2, Bands::printed).probability.maxCoeff(), 0.791, 5e-4);
}

TEST(ClassGenerators, TheProbabilitiesAreThoseOfTheFormula) {
  const SyntheticClasses w = wave_classes_data(50, 3);
  EXPECT_EQ(w.inputs, (std::vector<std::string>{"x"}));
  EXPECT_TRUE((w.X.array() > 0 && w.X.array() < 11).all());
  const SyntheticClasses in = band_classes_data(50, 3),
                         out = band_classes_data(50, 3, Bands::printed);
  EXPECT_EQ(in.inputs, (std::vector<std::string>{"x1", "x2"}));
  EXPECT_EQ(in.X, out.X);
  EXPECT_GT(in.X.maxCoeff(), 20);
  for (Index i = 0; i < 50; ++i) {
    const double x = w.X(i, 0), sum = in.X(i, 0) + in.X(i, 1);
    EXPECT_NEAR(w.f[i],
                3 * (std::sin(x) * std::sin(x) * std::sin(x) * std::sin(x) +
                     std::cos(x) * std::cos(x) * std::cos(x)),
                1e-13);
    EXPECT_NEAR(w.probability[i], 1 / (1 + std::exp(-w.f[i])), 1e-15);
    EXPECT_NEAR(in.f[i], 4 * std::sin(sum / 3), 1e-13);
    EXPECT_NEAR(out.f[i], 4 * std::sin(sum) / 3, 1e-13);
    EXPECT_TRUE(w.labels[i] == 0 || w.labels[i] == 1);
  }
}

TEST(ClassGenerators, TheWaveChangesItsSignFourTimes) {
  SyntheticClasses d = wave_classes_data(20000, 4);
  for (const double root : {2.306, 3.976, 8.589, 10.259}) {
    Index below = 0, above = 0;
    for (Index i = 0; i < d.X.rows(); ++i) {
      const double x = d.X(i, 0) - root;
      if (std::abs(x) < 0.001 || std::abs(x) > 0.05) continue;
      below += x < 0 && d.f[i] > 0;
      above += x > 0 && d.f[i] > 0;
    }
    EXPECT_TRUE((below == 0) != (above == 0)) << root;
  }
}

TEST(ClassGenerators, TheSameSeedGivesTheSameDataAndMoreRowsExtendIt) {
  const SyntheticClasses a = band_classes_data(50, 5), b = band_classes_data(80, 5),
                         c = band_classes_data(50, 6);
  EXPECT_EQ(a.X, b.X.topRows(50));
  EXPECT_EQ(a.labels, b.labels.head(50));
  EXPECT_NE(a.X, c.X);
  EXPECT_THROW(wave_classes_data(0, 1), InputError);
  EXPECT_THROW(band_classes_data(-1, 1), InputError);
  EXPECT_THROW(bayes_rates({}), InputError);
}

}  // namespace
}  // namespace covary
