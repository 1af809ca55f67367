#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "covary/linalg/types.hpp"

namespace covary {

// Synthetic labels: P(y = 1 | x) = 1/(1 + e^{−f(x)}). The same (n, seed) gives the same data; the
// first rows of a larger set are those of a smaller one. They are the simulations of
// Ashouritaklimi, "Sparse Gaussian process classification with variational inference" (2021).
struct SyntheticClasses {
  std::vector<std::string> inputs;  // the names of the columns of X
  RowMatrix X;                      // n×D
  Vector labels;                    // n, of 0 and 1
  Vector probability;               // n, of label 1
  Vector f;                         // n, its logit
};

// Simulation I: one input uniform in [0, 11], f = 3 (sin⁴x + cos³x). The class changes four times.
SyntheticClasses wave_classes_data(Index n, std::uint64_t seed);

// Simulation II: two inputs uniform in [0, 21], diagonal bands. The printed f = 4 sin(x₁ + x₂)/3
// cannot give the accuracies reported with it, for no classifier exceeds 0.694; with the 3 inside,
// f = 4 sin((x₁ + x₂)/3), they are as expected. That reading is ours.
enum class Bands { inside, printed };
SyntheticClasses band_classes_data(Index n, std::uint64_t seed, Bands reading = Bands::inside);

// What is true of all rows such a simulation may draw, by numerical integration.
struct BayesRates {
  double class_rate;  // P(y = 1)
  double accuracy;    // E max(p, 1 − p), which no classifier exceeds
  double nlpd;  // −E[p log p + (1 − p) log(1 − p)], of the true probabilities; none is below
};
BayesRates wave_classes_rates();
BayesRates band_classes_rates(Bands reading = Bands::inside);
// The same averaged over the rows at hand: the least that sampling leaves to a perfect model.
BayesRates bayes_rates(const SyntheticClasses& data);

}  // namespace covary
