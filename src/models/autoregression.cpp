#include "covary/models/autoregression.hpp"

#include <fmt/format.h>

#include <optional>

#include "covary/error.hpp"
#include "covary/inference/uncertain_inputs.hpp"

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

// One prediction after the other, in the units the model saw.
class Predictor {
 public:
  Predictor(const RegressionPosterior& posterior, Propagation how)
      : posterior_(posterior), how_(how) {
    if (how != Propagation::plug_in) map_.emplace(posterior);
  }
  Prediction operator()(const RowMatrix& mean, const RowMatrix& variance) {
    if (how_ == Propagation::plug_in) return posterior_.predict(mean);
    const bool certain = (variance.array() == 0.0).all();  // as before the first step
    Prediction p = certain ? posterior_.predict(mean) : map_->predict(mean, variance);
    if (how_ == Propagation::augmented) {
      posterior_ = with_gaussian_rows(posterior_.sparse(), mean, variance, p.mean);
      map_.emplace(posterior_);
    }
    return p;
  }

 private:
  RegressionPosterior posterior_;
  Propagation how_;
  std::optional<UncertainInputs> map_;
};

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
      throw InputError(fmt::format("the series are infinite at or soon after row {}", i));
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

std::vector<std::string> lag_names(const std::vector<std::string>& series, Index lags) {
  std::vector<std::string> out;
  for (Index l = lags; l > 0; --l)
    for (const auto& name : series) out.push_back(fmt::format("{}[t-{}]", name, l));
  return out;
}

Index lags_of(const RegressionFit& fit) {
  const Index D = fit.posterior.dims(), P = fit.posterior.outputs();
  if (D % P != 0 || static_cast<Index>(fit.output_names.size()) != P ||
      fit.input_names != lag_names(fit.output_names, D / P))
    return 0;
  return D / P;
}

Propagation parse_propagation(const std::string& name) {
  if (name == "plug-in") return Propagation::plug_in;
  if (name == "moments") return Propagation::moments;
  if (name == "augmented") return Propagation::augmented;
  throw InputError(
      fmt::format("propagation is '{}'; it is 'plug-in', 'moments' or 'augmented'", name));
}

Prediction simulate(const RegressionFit& fit, ConstRows series, Index steps, Propagation how) {
  const Index D = fit.posterior.dims(), P = fit.posterior.outputs(), lags = D / P;
  if (D % P != 0)
    throw InputError(
        fmt::format("{} inputs are no windows of {} series: this is not an autoregression", D, P));
  if (steps < 1) throw InputError(fmt::format("a simulation has at least one step, got {}", steps));
  if (series.cols() != P || series.rows() < lags)
    throw InputError(fmt::format("a simulation goes on from {} rows of {} series, got {}×{}", lags,
                                 P, series.rows(), series.cols()));
  const RowMatrix last = series.bottomRows(lags);
  if (!last.allFinite())
    throw InputError(fmt::format(
        "the last {} rows of the series must be complete: a simulation goes on from them", lags));
  Predictor predict(fit.posterior, how);
  RowMatrix mean = window_of(last), variance = RowMatrix::Zero(1, D);
  Prediction out{RowMatrix(steps, P), RowMatrix(steps, P), RowMatrix(steps, P)};
  const auto squares = fit.input_scaling.scale.transpose().array().square().eval();
  for (Index s = 0; s < steps; ++s) {
    const Prediction p =
        predict(fit.input_scaling.apply(mean), RowMatrix(variance.array().rowwise() / squares));
    out.mean.row(s) = fit.output_scaling.undo(p.mean);
    out.variance_f.row(s) = fit.output_scaling.undo_variance(p.variance_f);
    out.variance_y.row(s) = fit.output_scaling.undo_variance(p.variance_y);
    shift(mean, out.mean.row(s));
    if (how != Propagation::plug_in) shift(variance, out.variance_y.row(s));
  }
  return out;
}

}  // namespace covary
