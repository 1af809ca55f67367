// Late flights by additive classification in minibatches (Burt 2018, section 5.4, Table 5.1, Figs
// 5.7 to 5.11; E17, E18): inducing points, eigenfunctions and Fourier features, M of them for each
// of eight inputs, raw and after a rotation to principal components, at equal time. The 5.7 million
// flights of the thesis are not to be had: the 27 272 with the eight inputs, and a generated
// stand-in of 10⁶ rows whose inputs are correlated and heavy-tailed as theirs are.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>

#include "classification_support.hpp"
#include "covary/data/classification_metrics.hpp"
#include "covary/data/split.hpp"
#include "covary/data/table.hpp"
#include "covary/linalg/special.hpp"
#include "covary/models/svgp.hpp"
#include "covary/random/random.hpp"
#include "experiments.hpp"
#include "sparse_support.hpp"

namespace covary::experiments {
namespace {

constexpr Index inputs = 8, batch = 500, surrogate_rows = 1500000;
constexpr double usual_minutes = 0.5, majority = 56.4;

struct Flights {
  std::string name;
  Classes train, test;
};

Classes rows_of(const RowMatrix& X, const Vector& y, const std::vector<Index>& rows) {
  return {take_rows(X, rows), Vector(y(rows))};
}

Flights two_thirds(const std::string& name, const RowMatrix& X, const Vector& y,
                   std::uint64_t seed) {
  const Split split = train_test_split(X.rows(), 1.0 / 3.0, seed);
  return {name, rows_of(X, y, split.train), rows_of(X, y, split.test)};
}

Flights real_flights(std::uint64_t seed) {
  const RowMatrix all = read_table(find_data("airline_delays/gp_table.csv")).values;
  const Vector late = (all.col(inputs).array() > 0.0).cast<double>();
  return two_thirds("27 272 flights", all.leftCols(inputs), late, seed);
}

// Two columns that are all but equal (departure and arrival), two that are nearly so and have heavy
// tails (time in the air and distance), calendars; Φ of a sum of curves, about 44 % late.
Flights generated_flights(Index N, std::uint64_t seed) {
  Random random(seed, 0xa1f);
  RowMatrix X(N, inputs);
  Vector y(N);
  for (Index i = 0; i < N; ++i) {
    const double day = random.normal(), long_haul = std::exp(0.8 * random.normal());
    X.row(i) << 12.0 * random.uniform(), 31.0 * random.uniform(), 7.0 * random.uniform(),
        random.gamma(2.0), 13.5 + 4.5 * day, 15.0 + 4.4 * day + 0.6 * random.normal(),
        100.0 * long_haul, 800.0 * long_haul * std::exp(0.1 * random.normal());
    const double f = 0.3 * std::sin(0.8 * X(i, 0)) + 0.15 * std::cos(1.8 * X(i, 2)) +
                     0.05 * X(i, 3) + 0.5 * std::tanh(0.4 * (X(i, 5) - 14.0)) +
                     0.4 * std::sin(0.02 * (X(i, 6) - X(i, 7) / 8.0)) - 0.32;
    y(i) = random.uniform() < normal_cdf(f) ? 1.0 : 0.0;
  }
  return two_thirds(fmt::format("{} generated rows", N), X, y, seed);
}

struct Method {
  const char *name, *kernel, *features;
};
constexpr Method methods[] = {{"points", "additive(se)", "points"},
                              {"eigenfunctions", "additive(se)", "stacked(eigen)"},
                              {"Fourier features", "additive(matern32)", "stacked(fourier)"}};

struct Score {
  double accuracy = 0.0, nlpd = 0.0, bound = 0.0, steps = 0.0, step_ms = 0.0;
};

Score fit(const Flights& d, const Method& method, Index M, bool rotated, double minutes,
          std::uint64_t seed) {
  SvgpOptions o;
  o.kernel = method.kernel;
  o.likelihood = "bernoulli(probit)";
  o.features = method.features;
  o.inducing = inputs * M;
  o.selection = Selection::kmeans;
  o.pca = rotated ? inputs : 0;
  o.batch = batch;
  o.steps = 1000000;
  o.learning_rate.schedule = LearningRate::Schedule::constant;
  o.final_sweeps = 1;
  o.training.max_seconds = 60.0 * minutes;
  o.seed = seed;
  const GeneralisedFit fit = Svgp(d.train.X, d.train.y, o).fit();
  const RowMatrix p = fit.predict(d.test.X).probabilities;
  Score out;
  out.accuracy = 100.0 * accuracy(d.test.y, p);
  out.nlpd = nlpd(d.test.y, p);
  out.bound = fit.summary.value / static_cast<double>(d.train.y.size());
  out.steps = static_cast<double>(fit.summary.iterations);
  out.step_ms = 60e3 * minutes / out.steps;
  progress(fmt::format("{}, {}, {}: accuracy {:.2f} %, {:.0f} steps", d.name,
                       rotated ? "components" : "raw", method.name, out.accuracy, out.steps));
  return out;
}

}  // namespace

Result airline_additive(const LongSettings& settings) {
  Result result;
  result.name = "airline-additive";
  result.source = "Burt (2018), section 5.4, Table 5.1, Figs 5.9 to 5.11 (E17, E18)";
  const double minutes = settings.minutes > 0.0 ? settings.minutes : usual_minutes;
  const std::vector<Index> sizes =
      settings.inducing ? std::vector<Index>{settings.inducing} : std::vector<Index>{60, 90, 120};
  bool beats_majority = true;
  for (const Flights& d :
       {real_flights(settings.seed),
        generated_flights(settings.rows ? settings.rows : surrogate_rows, settings.seed)}) {
    const double late = d.test.y.mean();
    result.add(fmt::format("{}: late, %", d.name), "43.6", fmt::format("{:.1f}", 100.0 * late),
               fmt::format("{} for training", d.train.y.size()));
    for (const bool rotated : {false, true})
      for (const Index M : sizes)
        for (const Method& method : methods)
          for (const double share : {0.25, 1.0}) {
            const Score s = fit(d, method, M, rotated, share * minutes, settings.seed);
            result.add(
                fmt::format("{}, {}, {}, M = {} an input, {:.2g} s: accuracy; NLPD; bound a row",
                            d.name, rotated ? "components" : "raw", method.name, M,
                            60.0 * share * minutes),
                "", fmt::format("{:.2f} %; {:.4f}; {:.4f}", s.accuracy, s.nlpd, s.bound),
                fmt::format("{:.0f} steps, {:.1f} ms each", s.steps, s.step_ms));
            if (share == 1.0)
              beats_majority = beats_majority && s.accuracy > 100.0 * std::max(late, 1.0 - late);
          }
  }
  result.claim("every model beats the larger class", beats_majority,
               fmt::format("{:.1f} % in the thesis", majority));
  return result;
}

}  // namespace covary::experiments
