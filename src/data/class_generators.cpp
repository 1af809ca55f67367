#include "covary/data/class_generators.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "covary/error.hpp"
#include "covary/random/random.hpp"

namespace covary {
namespace {

constexpr double wave_width = 11, band_width = 21;

double sigmoid(double f) { return 1 / (1 + std::exp(-f)); }

double wave(double x) { return 3 * (std::pow(std::sin(x), 4) + std::pow(std::cos(x), 3)); }

double band(double sum, Bands reading) {
  return reading == Bands::inside ? 4 * std::sin(sum / 3) : 4 * std::sin(sum) / 3;
}

// Inputs come from one stream of the seed and the draws of the labels from another, so that both
// readings of the bands share their inputs.
template <class Function>
SyntheticClasses generate(Index n, std::uint64_t seed, std::vector<std::string> names, double width,
                          Function f) {
  if (n < 1) throw InputError(fmt::format("{} rows were asked for; at least 1 is needed", n));
  const auto D = static_cast<Index>(names.size());
  SyntheticClasses data{std::move(names), RowMatrix(n, D), Vector(n), Vector(n), Vector(n)};
  Random inputs(seed, 0), draws(seed, 1);
  for (Index i = 0; i < n; ++i) {
    for (Index j = 0; j < D; ++j) data.X(i, j) = width * inputs.uniform();
    data.f[i] = f(data.X.row(i));
    data.probability[i] = sigmoid(data.f[i]);
    data.labels[i] = data.probability[i] > draws.uniform();
  }
  return data;
}

// Of one row with P(y = 1) = p, added with its weight.
void add(BayesRates& rates, double p, double weight) {
  rates.class_rate += weight * p;
  rates.accuracy += weight * std::max(p, 1 - p);
  rates.nlpd -= weight * (p * std::log(p) + (1 - p) * std::log1p(-p));
}

// By the midpoint rule: the integrands are smooth but for kinks of max(p, 1 − p), so that the error
// is of the order of the square of the step.
template <class Function, class Density>
BayesRates integrated(double width, Function f, Density density) {
  constexpr Index steps = 200000;
  BayesRates rates{};
  const double step = width / static_cast<double>(steps);
  for (Index i = 0; i < steps; ++i) {
    const double x = (static_cast<double>(i) + 0.5) * step;
    add(rates, sigmoid(f(x)), step * density(x));
  }
  return rates;
}

}  // namespace

SyntheticClasses wave_classes_data(Index n, std::uint64_t seed) {
  return generate(n, seed, {"x"}, wave_width, [](const auto& x) { return wave(x[0]); });
}

SyntheticClasses band_classes_data(Index n, std::uint64_t seed, Bands reading) {
  return generate(n, seed, {"x1", "x2"}, band_width,
                  [=](const auto& x) { return band(x[0] + x[1], reading); });
}

BayesRates wave_classes_rates() {
  return integrated(wave_width, wave, [](double) { return 1 / wave_width; });
}

BayesRates band_classes_rates(Bands reading) {
  // f depends on x₁ + x₂ alone, whose density is a triangle over [0, 42].
  return integrated(
      2 * band_width, [=](double sum) { return band(sum, reading); },
      [](double sum) {
        return (band_width - std::abs(sum - band_width)) / (band_width * band_width);
      });
}

BayesRates bayes_rates(const SyntheticClasses& data) {
  if (data.probability.size() == 0) throw InputError("the data have no rows");
  BayesRates rates{};
  const double weight = 1 / static_cast<double>(data.probability.size());
  for (const double p : data.probability) add(rates, p, weight);
  return rates;
}

}  // namespace covary
