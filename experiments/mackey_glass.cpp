// Free simulation of the Mackey–Glass series (Damianou 2015, section 4.3.2, Table 4.1, Fig. 4.4):
// 72 values train an autoregression of 18 lags, which then runs 1110 steps on its own predictions.
// The start of the document's series is not known and the series is chaotic, so that there are 30
// starts here, each a history drawn from the seed and 500 units of time to forget it.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "covary/data/mackey_glass.hpp"
#include "covary/data/metrics.hpp"
#include "covary/models/autoregression.hpp"
#include "covary/models/parameter_draws.hpp"
#include "covary/models/sparse_regression.hpp"
#include "covary/random/random.hpp"
#include "experiments.hpp"
#include "small.hpp"
#include "sparse_support.hpp"

namespace covary::experiments {
namespace {

constexpr Index lags = 18, training = 4 * lags, all_steps = 1110, inducing = 30, forgotten = 500,
                default_repeats = 30, methods = 6;
constexpr std::array names{"ours, moments", "ours, augmented",
                           "ours, draws",   "ours, draws, parameters drawn too",
                           "Girard",        "naive"};
constexpr std::size_t ours = 4, naive = 5;  // the first four are ours
enum Score { mae_, mse_, nlpd_, coverage_, scores };

Index steps() { return few(all_steps, 40); }

std::string quartiles(Vector v) {
  std::sort(v.begin(), v.end());
  const auto at = [&](double share) {
    const double place = share * static_cast<double>(v.size() - 1);
    const auto below = static_cast<Index>(place);
    const Index above = std::min(below + 1, v.size() - 1);
    return v(below) + (place - static_cast<double>(below)) * (v(above) - v(below));
  };
  return fmt::format("{:.3f} ({:.3f}–{:.3f})", at(0.5), at(0.25), at(0.75));
}

struct Fits {
  RegressionFit sparse, exact;
};

// Both from the same windows, all data in the units given.
Fits fit_windows(const RowMatrix& series, std::uint64_t seed) {
  const LagWindows w = lag_windows(series, lags);
  SparseRegressionOptions s;
  s.inducing = inducing;
  s.jitter = 1e-5;
  s.subset = 0;  // noise starts at a hundredth of the variance, as in the document's program
  s.seed = seed;
  s.training.max_iterations = few(s.training.max_iterations, 5);
  RegressionOptions e;
  e.seed = seed;
  e.training.max_iterations = few(e.training.max_iterations, 5);
  e.standard_errors = Switch::off;
  SparseRegression sparse(w.X, w.Y, s);
  sparse.parameters().set("likelihood.variance", 0.01);
  return {sparse.fit(), Regression(w.X, w.Y, e).fit()};
}

struct Simulations {
  std::array<Prediction, methods> all;
  double r_hat;  // of the parameters drawn
};

Simulations simulations(const Fits& fits, const RowMatrix& series, std::uint64_t seed) {
  ParameterDrawOptions options;
  options.seed = seed;
  options.draws = few(options.draws, 4);
  options.burn_in = few(options.burn_in, 2);
  const ParameterDraws drawn = sample_parameters(fits.exact, options);
  return {{simulate(fits.sparse, series, steps(), Propagation::moments),
           simulate(fits.sparse, series, steps(), Propagation::augmented),
           simulate(fits.sparse, series, steps(), Propagation::draws),
           simulate(fits.exact, series, steps(), Propagation::draws, {.parameters = drawn.values}),
           simulate(fits.exact, series, steps(), Propagation::moments),
           simulate(fits.exact, series, steps(), Propagation::plug_in)},
          drawn.r_hat};
}

void draw(Result& result, const Vector& truth, const std::array<Prediction, methods>& all) {
  const Index shown = std::min<Index>(300, steps());
  Matrix values(shown, 2 + 2 * methods);
  std::vector<std::string> columns{"step", "truth"};
  values.col(0) = Vector::LinSpaced(shown, 1.0, static_cast<double>(shown));
  values.col(1) = truth.head(shown);
  for (std::size_t m = 0; m < methods; ++m) {
    const auto at = static_cast<Index>(2 + 2 * m);
    values.col(at) = all[m].mean.col(0).head(shown);
    values.col(at + 1) = all[m].variance_y.col(0).head(shown).cwiseSqrt();
    columns.push_back(names[m]);
    columns.push_back(fmt::format("{}: standard deviation", names[m]));
  }
  result.series.push_back({"Fig. 4.4: the first 300 steps of the first start", columns, values});
}

// How often ours is below the other, of paired starts.
double share_below(const Matrix& own, const Matrix& other, Score score) {
  return (own.col(score).array() < other.col(score).array()).cast<double>().mean();
}

}  // namespace

Result mackey_glass(const Settings& settings) {
  Result result;
  result.name = "mackey-glass";
  result.source =
      "A. Damianou, Deep Gaussian Processes and Variational Propagation of Uncertainty (2015), "
      "section 4.3.2, Table 4.1, Fig. 4.4";
  const Index repeats = settings.repeats ? settings.repeats : few(default_repeats, 1);
  std::array<Matrix, methods> found;
  for (Matrix& m : found) m.resize(repeats, scores);
  Vector spread(repeats);
  for (Index r = 0; r < repeats; ++r) {
    Random random(settings.seed, static_cast<std::uint64_t>(r));
    Vector x = covary::mackey_glass(training + steps(), 0.5 + random.uniform(), forgotten);
    x.array() -= x.mean();
    x /= std::sqrt(x.squaredNorm() / static_cast<double>(x.size()));
    const RowMatrix series = x.head(training);
    const Vector truth = x.tail(steps());
    const Fits fits = fit_windows(series, settings.seed);
    const auto [all, r_hat] = simulations(fits, series, settings.seed);
    spread(r) = r_hat;
    for (std::size_t m = 0; m < methods; ++m) {
      const Vector mean = all[m].mean.col(0), variance = all[m].variance_y.col(0);
      found[m].row(r) << mae(truth, mean), std::pow(rmse(truth, mean), 2),
          nlpd(truth, mean, variance), coverage(truth, mean, variance, 0.95);
    }
    std::string line = fmt::format("start {}: R-hat {:.3f}; MAE and coverage", r, r_hat);
    for (const Matrix& m : found)
      line += fmt::format(" {:.3f} {:.2f}", m(r, mae_), m(r, coverage_));
    progress(line);
    if (r == 0) draw(result, truth, all);
  }
  const std::array reported{"0.529; 0.550", "0.529; 0.550", "", "", "0.700; 0.914", "0.799; 1.157"};
  for (std::size_t m = 0; m < methods; ++m) {
    result.add(fmt::format("{}: MAE; MSE, median (quartiles)", names[m]), reported[m],
               fmt::format("{}; {}", quartiles(found[m].col(mae_)), quartiles(found[m].col(mse_))),
               *reported[m] ? "reported: one series" : "");
    result.add(
        fmt::format("{}: NLPD; share in the 95 % bands", names[m]), "",
        fmt::format("{}; {:.3f}", quartiles(found[m].col(nlpd_)), found[m].col(coverage_).mean()));
  }
  result.add("R-hat of the parameters drawn", "", quartiles(spread), "the largest of 20");
  for (std::size_t m = 0; m < ours; ++m) {
    result.claim(fmt::format("{}: MAE below naive in at least 70 % of starts", names[m]),
                 share_below(found[m], found[naive], mae_) >= 0.7,
                 fmt::format("{:.0f} %; MSE {:.0f} %, NLPD {:.0f} %",
                             100 * share_below(found[m], found[naive], mae_),
                             100 * share_below(found[m], found[naive], mse_),
                             100 * share_below(found[m], found[naive], nlpd_)));
    const double covered = found[m].col(coverage_).mean();
    result.claim(fmt::format("{}: 95 % bands cover 85 to 99 %", names[m]),
                 covered >= 0.85 && covered <= 0.99, fmt::format("{:.1f} %", 100 * covered));
  }
  return result;
}

}  // namespace covary::experiments
