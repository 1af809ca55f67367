// Semi-described learning (Damianou 2015, section 4.3.1, Figs 4.2, 4.3): rows whose inputs are
// partly missing beside complete ones. Simulated: fifteen inputs drawn from a Gaussian process over
// time, five outputs drawn from another over the inputs; 40 complete rows, 60 with holes, 100 to
// test. And frames of motion capture: 39 features give 20 others.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numbers>

#include "classification_support.hpp"
#include "covary/data/split.hpp"
#include "covary/data/table.hpp"
#include "covary/inference/exact_posterior.hpp"
#include "covary/models/gplvm.hpp"
#include "covary/models/missing_inputs.hpp"
#include "covary/models/sparse_regression.hpp"
#include "covary/random/random.hpp"
#include "experiments.hpp"
#include "small.hpp"
#include "sparse_support.hpp"

namespace covary::experiments {
namespace {

constexpr Index default_repeats = 4;
constexpr std::array rates{0.1, 0.2, 0.3, 0.5, 0.7, 0.9};
constexpr std::array names{"semi-described GP",
                           "GP of the complete rows",
                           "linear regression of the complete rows",
                           "nearest neighbour over the inputs there are",
                           "mean",
                           "GP of all rows, imputed by a GP-LVM"};
constexpr std::size_t imputed = 5;  // of the simulated half alone

// Complete rows, those that get holes, then those to test.
struct Problem {
  RowMatrix X, Y;
  Index complete, holed, tested;
  Index inducing;
  ScaleMode scale_inputs, scale_outputs;
  bool impute;

  Index training() const { return complete + holed; }
  std::size_t methods() const { return impute ? names.size() : imputed; }
};

Problem simulated(std::uint64_t seed) {
  constexpr Index Q = 15, P = 5;
  const Index complete = few(40, 12), holed = few(60, 8), tested = few(100, 10);
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
  return {std::move(X), std::move(Y),    complete,          holed, tested,
          30,           ScaleMode::none, ScaleMode::global, true};
}

// Frames of walks and runs: of 59 numbers the last 39 are inputs, the first 20 outputs.
Problem motions(std::uint64_t seed) {
  constexpr Index P = 20;
  const Index complete = few(50, 12), holed = few(80, 8), tested = few(200, 10);
  const RowMatrix all = read_data("cmu_mocap_35/features59_train.csv.gz").values;
  std::vector<Index> rows = Random(seed, 0x5d).permutation(all.rows());
  rows.resize(static_cast<std::size_t>(complete + holed + tested));
  const RowMatrix frames = take_rows(all, rows).rightCols(59);
  return {frames.rightCols(59 - P), frames.leftCols(P), complete, holed, tested, 35,
          ScaleMode::columns,       ScaleMode::columns, false};
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

// A GP-LVM of the inputs fills their holes; rows without any input have nothing to go by and stay
// out.
RowMatrix imputed_mean(const RowMatrix& X, const RowMatrix& Y, const RowMatrix& at,
                       const RegressionOptions& options) {
  std::vector<Index> seen;
  for (Index i = 0; i < X.rows(); ++i)
    if (!X.row(i).array().isNaN().all()) seen.push_back(i);
  RowMatrix filled = take_rows(X, seen);
  GplvmOptions o;
  o.latent = few(10, 3);
  o.inducing = few(30, 6);
  o.training.starts = 1;
  o.seed = options.seed;
  o.training.max_iterations = few(300, 2);
  const GplvmFit fit = Gplvm(filled, o).fit();
  const RowMatrix decoded = fit.decode(fit.mean, fit.variance).mean;
  filled = filled.array().isNaN().select(decoded, filled);
  return Regression(filled, take_rows(Y, seen), options).fit().predict_mean(at);
}

std::vector<Errors> compare(const Problem& p, double rate, std::uint64_t seed) {
  RowMatrix X = p.X.topRows(p.training());
  Random random(seed, static_cast<std::uint64_t>(1000.0 * rate));
  for (Index i = p.complete; i < p.training(); ++i)
    for (Index q = 0; q < X.cols(); ++q)
      if (random.uniform() < rate) X(i, q) = std::numeric_limits<double>::quiet_NaN();
  const RowMatrix Y = p.Y.topRows(p.training()), at = p.X.bottomRows(p.tested),
                  truth = p.Y.bottomRows(p.tested), whole = X.topRows(p.complete),
                  own = Y.topRows(p.complete);
  MissingInputsOptions s;
  s.inducing = few(p.inducing, 6);
  s.kernel = "se";
  s.seed = seed;
  s.held_iterations = few(s.held_iterations, 2);
  s.training.max_iterations = few(s.training.max_iterations, 2);
  s.scale_inputs = p.scale_inputs;
  s.scale_outputs = p.scale_outputs;
  const MissingInputsFit learned = MissingInputsRegression(X, Y, s).fit();
  RegressionOptions g;
  g.kernel = s.kernel;
  g.seed = seed;
  g.training.max_iterations = few(g.training.max_iterations, 3);
  g.scale_inputs = s.scale_inputs;
  g.scale_outputs = s.scale_outputs;
  g.standard_errors = Switch::off;
  const RegressionFit gp = Regression(whole, own, g).fit();
  RegressionOptions straight = g;
  straight.kernel = "linear + constant";
  const RegressionFit linear = Regression(whole, own, straight).fit();
  RowMatrix neighbour(p.tested, Y.cols()), mean(p.tested, Y.cols());
  for (Index i = 0; i < p.tested; ++i) neighbour.row(i) = Y.row(nearest(X, at, i));
  mean.rowwise() = Y.colwise().mean();
  std::vector<Errors> out{
      errors(truth, learned.regression.predict_mean(at)), errors(truth, gp.predict_mean(at)),
      errors(truth, linear.predict_mean(at)), errors(truth, neighbour), errors(truth, mean)};
  if (p.impute) out.push_back(errors(truth, imputed_mean(X, Y, at, g)));
  return out;
}

// The mean squared errors, a row for each rate, a column for each method.
Matrix run_half(const std::string& half, const std::vector<Problem>& problems, std::uint64_t seed,
                Result& result) {
  const std::size_t methods = problems.front().methods();
  const auto repeats = static_cast<Index>(problems.size());
  Matrix curve(static_cast<Index>(rates.size()), static_cast<Index>(methods));
  for (std::size_t k = 0; k < rates.size(); ++k) {
    std::vector<Vector> squared(methods, Vector(repeats)), absolute = squared;
    for (Index r = 0; r < repeats; ++r) {
      const std::uint64_t own = seed + static_cast<std::uint64_t>(r);
      const auto found = compare(problems[static_cast<std::size_t>(r)], rates[k], own);
      for (std::size_t m = 0; m < methods; ++m) {
        squared[m](r) = found[m].squared;
        absolute[m](r) = found[m].absolute;
      }
      progress(fmt::format("{}{:.0f} % missing, seed {}: MSE {:.4f}, of the complete rows {:.4f}",
                           half, 100 * rates[k], own, found[0].squared, found[1].squared));
    }
    for (std::size_t m = 0; m < methods; ++m) {
      curve(static_cast<Index>(k), static_cast<Index>(m)) = squared[m].mean();
      const auto say = [&](const Vector& v) {
        return repeats > 1 ? mean_se(v, 4) : fmt::format("{:.4f}", v(0));
      };
      result.add(fmt::format("{}{:.0f} % missing, {}: MSE; MAE", half, 100 * rates[k], names[m]),
                 "", fmt::format("{}; {}", say(squared[m]), say(absolute[m])));
    }
  }
  return curve;
}

// Of the curves: how the semi-described GP stands to that of the complete rows.
void claims(const std::string& half, const Matrix& curve, Result& result) {
  const Vector ratio = curve.col(0).cwiseQuotient(curve.col(1));
  result.claim(half + "below the GP of the complete rows up to 50 % missing (H5)",
               ratio.head(4).maxCoeff() < 1.0,
               fmt::format("MSE {:.2f} of its at 10 %, {:.2f} at 50 %", ratio(0), ratio(3)));
  result.claim(half + "as good as that GP, to 10 %, at 90 % missing (B9)", ratio(5) <= 1.1,
               fmt::format("MSE {:.2f} of its", ratio(5)));
}

void draw(const std::string& name, const Matrix& curve, Result& result) {
  std::vector<std::string> columns{"missing, %"};
  columns.insert(columns.end(), names.begin(), names.begin() + curve.cols());
  Matrix values(curve.rows(), 1 + curve.cols());
  for (Index k = 0; k < curve.rows(); ++k)
    values(k, 0) = 100.0 * rates[static_cast<std::size_t>(k)];
  values.rightCols(curve.cols()) = curve;
  result.series.push_back({name, columns, values});
}

}  // namespace

Result semi_described(const Settings& settings) {
  Result result;
  result.name = "semi-described";
  result.source =
      "A. Damianou, Deep Gaussian Processes and Variational Propagation of Uncertainty (2015), "
      "section 4.3.1, Figs 4.2, 4.3";
  const Index repeats = settings.repeats ? settings.repeats : few(default_repeats, 1);
  const std::uint64_t seed = settings.seed + 2;
  std::vector<Problem> toys;
  for (Index r = 0; r < repeats; ++r)
    toys.push_back(simulated(seed + static_cast<std::uint64_t>(r)));
  const Matrix toy = run_half("", toys, seed, result),
               frames = run_half("frames, ", {motions(seed)}, seed, result);
  claims("", toy, result);
  const Vector filled = toy.col(5).cwiseQuotient(toy.col(1));
  result.claim("imputing by a GP-LVM is worse than leaving the rows with holes out",
               filled.minCoeff() > 1.0,
               fmt::format("MSE {:.2f} of that GP's at 10 %, {:.2f} at 50 %, {:.2f} at 90 %",
                           filled(0), filled(3), filled(5)));
  claims("frames, ", frames, result);
  draw("Fig. 4.2: MSE against what is missing, simulated", toy, result);
  draw("Fig. 4.3: MSE against what is missing, motion capture", frames, result);
  return result;
}

}  // namespace covary::experiments
