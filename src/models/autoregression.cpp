#include "covary/models/autoregression.hpp"

#include <fmt/format.h>

#include <optional>

#include "covary/error.hpp"
#include "covary/inference/uncertain_inputs.hpp"
#include "covary/linalg/parallel.hpp"
#include "covary/models/parameter_draws.hpp"
#include "covary/random/random.hpp"
#include "models/undo_covariance.hpp"

namespace covary {
namespace {

// A window as one row, the oldest lag first.
RowMatrix window_of(ConstRows lags) {
  RowMatrix out(1, lags.size());
  for (Index i = 0; i < lags.rows(); ++i)
    out.middleCols(i * lags.cols(), lags.cols()) = lags.row(i);
  return out;
}

// Lets go of the oldest lag.
void shift(RowMatrix& window, ConstRows next) {
  const Index P = next.cols(), rest = window.cols() - P;
  for (Index j = 0; j < rest; ++j) window(0, j) = window(0, j + P);
  window.rightCols(P) = next;
}

// A Gaussian window in the units of the data.
struct Window {
  RowMatrix mean;     // 1×τP
  Matrix covariance;  // τP×τP
};

// The window of the next step: f of this one with its covariances, and the noise, in place of the
// oldest lags.
void shift(Window& w, const Prediction& next, const Matrix& covariance, const Matrix& with_input) {
  const Index P = next.mean.cols(), rest = w.mean.cols() - P;
  shift(w.mean, next.mean);
  const Matrix kept = w.covariance.bottomRightCorner(rest, rest);
  w.covariance.topLeftCorner(rest, rest) = kept;
  w.covariance.bottomLeftCorner(P, rest) = with_input.bottomRows(rest).transpose();
  w.covariance.topRightCorner(rest, P) = with_input.bottomRows(rest);
  w.covariance.bottomRightCorner(P, P) = covariance;
  w.covariance.diagonal().tail(P) = next.variance_y.row(0);
}

// One prediction after the other, by moments.
class Predictor {
 public:
  Predictor(const RegressionFit& fit, bool augmented)
      : fit_(fit), posterior_(fit.posterior), map_(posterior_), augmented_(augmented) {}

  // The window moves on.
  Prediction operator()(Window& w) {
    const Scaling &in = fit_.input_scaling, &out = fit_.output_scaling;
    const RowMatrix mean = in.apply(w.mean);
    const Matrix S =
        in.scale.cwiseInverse().asDiagonal() * w.covariance * in.scale.cwiseInverse().asDiagonal();
    const UncertainInputs::Joint f = map_.joint(mean.row(0).transpose(), S);
    const RowMatrix scaled = f.mean.transpose(), variance = f.covariance.diagonal().transpose();
    const Prediction p{out.undo(scaled), out.undo_variance(variance),
                       out.undo_variance(RowMatrix(variance.array() + map_.noise()))};
    if (augmented_) {
      posterior_ = posterior_.with(mean, std::vector<Matrix>{S}, scaled);
      map_ = UncertainInputs(posterior_);
    }
    shift(w, p, undo_covariance(out, f.covariance),
          in.scale.asDiagonal() * f.with_input * out.scale.asDiagonal());
    return p;
  }

 private:
  const RegressionFit& fit_;
  Posterior posterior_;
  UncertainInputs map_;
  bool augmented_;
};

// The window that a simulation starts from.
RowMatrix last_window(const RegressionFit& fit, ConstRows series, Index steps) {
  const Index D = fit.posterior.dims(), P = fit.posterior.functions(), lags = D / P;
  if (D % P != 0)
    throw InputError(
        fmt::format("the {} inputs are not {} lagged series: this is not an autoregression", D, P));
  if (steps < 1) throw InputError(fmt::format("steps must be at least 1, got {}", steps));
  if (series.cols() != P || series.rows() < lags)
    throw InputError(fmt::format("a simulation needs the last {} rows of the {} series, got {}×{}",
                                 lags, P, series.rows(), series.cols()));
  const RowMatrix last = series.bottomRows(lags);
  if (!last.allFinite())
    throw InputError(fmt::format(
        "the last {} rows of the series must be complete: a simulation starts from them", lags));
  return window_of(last);
}

// Of y over the trajectories; f has less by the noise.
Prediction moments_of(const std::vector<RowMatrix>& draws, const Vector& noise) {
  const auto n = static_cast<double>(draws.size());
  const Index steps = draws.front().rows(), P = draws.front().cols();
  Prediction out{RowMatrix::Zero(steps, P), RowMatrix(steps, P), RowMatrix::Zero(steps, P)};
  for (const RowMatrix& y : draws) out.mean += y / n;
  for (const RowMatrix& y : draws)
    out.variance_y.array() += (y - out.mean).array().square() / (n - 1.0);
  for (Index p = 0; p < P; ++p) {
    out.variance_y.col(p) = out.variance_y.col(p).cwiseMax(noise(p));
    out.variance_f.col(p) = out.variance_y.col(p).array() - noise(p);
  }
  return out;
}

// A draw of f, and the noise that goes with it.
struct NoisyFunction {
  FunctionDraw f;
  Vector variance;  // of the noise
};

std::vector<NoisyFunction> noisy_functions(const RegressionFit& fit, const DrawOptions& options) {
  const auto draws_of = [&](const RegressionFit& own, Index draws, std::uint64_t seed) {
    const Vector noise = own.posterior.noise_variance() * own.output_scaling.scale.array().square();
    std::vector<NoisyFunction> out;
    for (FunctionDraw& f : own.sample_functions(draws, seed, options.features))
      out.push_back({std::move(f), noise});
    return out;
  };
  const Index given = std::min(options.parameters.rows(), options.draws);
  if (given == 0) return draws_of(fit, options.draws, options.seed);
  std::vector<NoisyFunction> out(static_cast<std::size_t>(options.draws));
  for (Index k = 0; k < given; ++k) {
    const RegressionFit own = with_parameters(fit, options.parameters.row(k).transpose());
    constexpr std::uint64_t streams = std::uint64_t{1} << 33;
    Random seeds(options.seed, streams + static_cast<std::uint64_t>(k));
    Index d = k;
    for (auto& draw : draws_of(own, (options.draws - k + given - 1) / given, seeds.bits())) {
      out[static_cast<std::size_t>(d)] = std::move(draw);
      d += given;
    }
  }
  return out;
}

std::vector<RowMatrix> run(const std::vector<NoisyFunction>& functions, const RowMatrix& start,
                           Index steps, std::uint64_t seed) {
  std::vector<RowMatrix> out(functions.size());
  parallel_for(static_cast<Index>(functions.size()), [&](Index d) {
    const auto at = static_cast<std::size_t>(d);
    const Vector sd = functions[at].variance.cwiseSqrt();
    constexpr std::uint64_t streams = std::uint64_t{1} << 32;  // apart from those of the functions
    Random random(seed, streams + static_cast<std::uint64_t>(d));
    RowMatrix window = start;
    out[at].resize(steps, sd.size());
    for (Index s = 0; s < steps; ++s) {
      RowMatrix y = functions[at].f(window);
      for (Index p = 0; p < y.cols(); ++p) y(0, p) += sd(p) * random.normal();
      out[at].row(s) = y;
      shift(window, y);
    }
  });
  return out;
}

}  // namespace

LagWindows lag_windows(ConstRows series, Index lags) {
  if (lags < 1) throw InputError(fmt::format("a window needs at least one lag, got {}", lags));
  const Index T = series.rows(), P = series.cols();
  if (T <= lags || P < 1)
    throw InputError(fmt::format(
        "{} rows of {} series make no window of {} lags and a next value; give more rows or fewer "
        "lags",
        T, P, lags));
  std::vector<Index> whole;
  for (Index i = 0; i + lags < T; ++i) {
    if (series.middleRows(i, lags + 1).array().isInf().any())
      throw InputError(fmt::format("the series have infinite values at or soon after row {}", i));
    if (!series.middleRows(i, lags).array().isNaN().any()) whole.push_back(i);
  }
  if (whole.empty())
    throw InputError(fmt::format(
        "no {} rows in succession are complete; fill in missing values or take fewer lags", lags));
  const auto n = static_cast<Index>(whole.size());
  LagWindows out{RowMatrix(n, lags * P), RowMatrix(n, P)};
  for (Index i = 0; i < n; ++i) {
    const Index first = whole[static_cast<std::size_t>(i)];
    out.X.row(i) = window_of(series.middleRows(first, lags));
    out.Y.row(i) = series.row(first + lags);
  }
  return out;
}

std::vector<std::string> LagWindows::names(const std::vector<std::string>& series, Index lags) {
  std::vector<std::string> out;
  for (Index l = lags; l > 0; --l)
    for (const auto& name : series) out.push_back(fmt::format("{}[t-{}]", name, l));
  return out;
}

// By the names of the inputs.
Index RegressionFit::lags() const {
  const Index D = posterior.dims(), P = posterior.functions();
  if (D % P != 0 || static_cast<Index>(output_names.size()) != P ||
      input_names() != LagWindows::names(output_names, D / P))
    return 0;
  return D / P;
}

Propagation parse_propagation(const std::string& name) {
  if (name == "plug-in") return Propagation::plug_in;
  if (name == "moments") return Propagation::moments;
  if (name == "augmented") return Propagation::augmented;
  if (name == "draws") return Propagation::draws;
  throw InputError(
      fmt::format("propagation is '{}'; it is 'plug-in', 'moments', 'augmented' or 'draws'", name));
}

Prediction simulate(const RegressionFit& fit, ConstRows series, Index steps, Propagation how,
                    const DrawOptions& options) {
  if (how == Propagation::draws) {
    if (options.draws < 2)
      throw InputError(fmt::format("moments need at least two draws, got {}", options.draws));
    const RowMatrix start = last_window(fit, series, steps);
    const std::vector<NoisyFunction> functions = noisy_functions(fit, options);
    Vector noise = Vector::Zero(fit.posterior.functions());
    for (const NoisyFunction& f : functions)
      noise += f.variance / static_cast<double>(functions.size());
    return moments_of(run(functions, start, steps, options.seed), noise);
  }
  const Index D = fit.posterior.dims(), P = fit.posterior.functions();
  Window window{last_window(fit, series, steps), Matrix::Zero(D, D)};
  std::optional<Predictor> predict;
  if (how != Propagation::plug_in) predict.emplace(fit, how == Propagation::augmented);
  Prediction out{RowMatrix(steps, P), RowMatrix(steps, P), RowMatrix(steps, P)};
  for (Index s = 0; s < steps; ++s) {
    const Prediction p = predict ? (*predict)(window) : fit.predict(window.mean);
    if (!predict) shift(window.mean, p.mean);
    out.mean.row(s) = p.mean;
    out.variance_f.row(s) = p.variance_f;
    out.variance_y.row(s) = p.variance_y;
  }
  return out;
}

std::vector<RowMatrix> simulate_draws(const RegressionFit& fit, ConstRows series, Index steps,
                                      const DrawOptions& options) {
  const RowMatrix start = last_window(fit, series, steps);
  return run(noisy_functions(fit, options), start, steps, options.seed);
}

}  // namespace covary
