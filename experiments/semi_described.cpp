// Semi-described learning (Damianou 2015, section 4.3.1, Figs 4.2, 4.3): rows whose inputs are
// partly missing beside complete ones. Simulated: fifteen inputs drawn from a Gaussian process over
// time, five outputs drawn from another over the inputs; 40 complete rows, 60 with holes, 100 to
// test. And motion capture, where the data are there: 39 features give 20 others.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numbers>

#include "classification_support.hpp"
#include "covary/data/split.hpp"
#include "covary/inference/posterior.hpp"
#include "covary/models/missing_inputs.hpp"
#include "covary/models/sparse_regression.hpp"
#include "covary/random/random.hpp"
#include "experiments.hpp"
#include "sparse_support.hpp"

namespace covary::experiments {
namespace {

constexpr Index complete = 40, holed = 60, tested = 100, Q = 15, P = 5, default_repeats = 4;
constexpr std::array rates{0.1, 0.2, 0.3, 0.5, 0.7, 0.9};
constexpr std::array names{"semi-described GP", "GP of the complete rows",
                           "linear regression of the complete rows",
                           "nearest neighbour over the inputs there are", "mean"};
constexpr std::size_t methods = names.size();

struct Problem {
  RowMatrix X, Y;  // complete rows, those that get holes, then those to test
};

Problem simulated(std::uint64_t seed) {
  const Index n = complete + holed + tested;
  const Vector t = Vector::LinSpaced(n, 0.0, 6.0 * std::numbers::pi);
  const Vector over_time = (Vector(2) << 1.0, 1.0 / std::sqrt(0.2)).finished(),
               over_inputs = (Vector(2) << 1.0, 1.0 / std::sqrt(0.5)).finished();
  const RowMatrix drawn = sample_prior("se", over_time, t, Q, seed);
  Random random(seed, 0x5d);
  RowMatrix X = take_rows(drawn, random.permutation(n));
  const Index training = complete + holed;
  for (Index q = 0; q < Q; ++q) {
    const Vector known = X.col(q).head(training);
    const double mean = known.mean();
    const double sd = std::sqrt((known.array() - mean).square().mean());
    X.col(q) = (X.col(q).array() - mean) / sd;
  }
  RowMatrix Y = sample_prior("se", over_inputs, X, P, seed + 1000);
  Y += std::sqrt(0.001) * random.normal_matrix(n, P);
  return {std::move(X), std::move(Y)};
}

// The row, of those of training, that is nearest over the inputs that it has, per input.
Index nearest(const RowMatrix& X, const RowMatrix& at, Index i) {
  double best = std::numeric_limits<double>::infinity();
  Index found = 0;
  for (Index r = 0; r < X.rows(); ++r) {
    double sum = 0.0, count = 0.0;
    for (Index q = 0; q < X.cols(); ++q)
      if (!std::isnan(X(r, q))) {
        sum += std::pow(X(r, q) - at(i, q), 2);
        count += 1.0;
      }
    if (count > 0.0 && sum / count < best) {
      best = sum / count;
      found = r;
    }
  }
  return found;
}

struct Errors {
  double squared, absolute;
};
Errors errors(const RowMatrix& Y, const RowMatrix& mean) {
  const auto away = (Y - mean).array();
  return {away.square().mean(), away.abs().mean()};
}

std::array<Errors, methods> compare(const Problem& p, double rate, std::uint64_t seed) {
  const Index training = complete + holed;
  RowMatrix X = p.X.topRows(training);
  Random random(seed, static_cast<std::uint64_t>(1000.0 * rate));
  for (Index i = complete; i < training; ++i)
    for (Index q = 0; q < Q; ++q)
      if (random.uniform() < rate) X(i, q) = std::numeric_limits<double>::quiet_NaN();
  const RowMatrix Y = p.Y.topRows(training), at = p.X.bottomRows(tested),
                  truth = p.Y.bottomRows(tested), whole = X.topRows(complete),
                  own = Y.topRows(complete);
  MissingInputsOptions s;
  s.inducing = 30;
  s.kernel = "se";
  s.seed = seed;
  s.scale_inputs = ScaleMode::none;
  s.scale_outputs = ScaleMode::global;
  const MissingInputsFit learned = MissingInputsRegression(X, Y, s).fit();
  RegressionOptions g;
  g.kernel = s.kernel;
  g.seed = seed;
  g.scale_inputs = s.scale_inputs;
  g.scale_outputs = s.scale_outputs;
  g.standard_errors = Switch::off;
  const RegressionFit gp = Regression(whole, own, g).fit();
  g.kernel = "linear + constant";
  const RegressionFit linear = Regression(whole, own, g).fit();
  RowMatrix neighbour(tested, P), mean(tested, P);
  for (Index i = 0; i < tested; ++i) neighbour.row(i) = Y.row(nearest(X, at, i));
  mean.rowwise() = Y.colwise().mean();
  return {errors(truth, learned.regression.predict_mean(at)), errors(truth, gp.predict_mean(at)),
          errors(truth, linear.predict_mean(at)), errors(truth, neighbour), errors(truth, mean)};
}

}  // namespace

Result semi_described(const Settings& settings) {
  Result result;
  result.name = "semi-described";
  result.source = "Damianou (2015), section 4.3.1, Fig. 4.2";
  const Index repeats = settings.repeats ? settings.repeats : default_repeats;
  Matrix curve(static_cast<Index>(rates.size()), 1 + static_cast<Index>(methods));
  bool below = true;
  double last = 0.0;
  for (std::size_t k = 0; k < rates.size(); ++k) {
    std::array<Vector, methods> squared, absolute;
    for (std::size_t m = 0; m < methods; ++m) {
      squared[m].resize(repeats);
      absolute[m].resize(repeats);
    }
    for (Index r = 0; r < repeats; ++r) {
      const std::uint64_t seed = settings.seed + 2 + static_cast<std::uint64_t>(r);
      const auto found = compare(simulated(seed), rates[k], seed);
      for (std::size_t m = 0; m < methods; ++m) {
        squared[m](r) = found[m].squared;
        absolute[m](r) = found[m].absolute;
      }
      progress(fmt::format("{:.0f} % missing, seed {}: MSE {:.4f}, of the complete rows {:.4f}",
                           100 * rates[k], seed, found[0].squared, found[1].squared));
    }
    const auto row = static_cast<Index>(k);
    curve(row, 0) = 100.0 * rates[k];
    for (std::size_t m = 0; m < methods; ++m) {
      curve(row, 1 + static_cast<Index>(m)) = squared[m].mean();
      result.add(fmt::format("{:.0f} % missing, {}: MSE; MAE", 100 * rates[k], names[m]), "",
                 fmt::format("{}; {}", mean_se(squared[m], 4), mean_se(absolute[m], 4)));
    }
    if (rates[k] <= 0.5) below = below && squared[0].mean() < squared[1].mean();
    last = squared[0].mean() / squared[1].mean();
  }
  result.claim("below the GP of the complete rows up to 50 % missing (H5)", below,
               fmt::format("MSE {:.2f} of its at 10 %, {:.2f} at 50 %", curve(0, 1) / curve(0, 2),
                           curve(3, 1) / curve(3, 2)));
  result.claim("as good as that GP, to 10 %, at 90 % missing (B9)", last <= 1.1,
               fmt::format("MSE {:.2f} of its", last));
  std::vector<std::string> columns{"missing, %"};
  columns.insert(columns.end(), names.begin(), names.end());
  result.series.push_back({"Fig. 4.2: MSE against what is missing", columns, curve});
  return result;
}

}  // namespace covary::experiments
