#include "report/target_pictures.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "covary/likelihoods/predictive.hpp"
#include "covary/linalg/parallel.hpp"
#include "report/axis.hpp"
#include "report/text.hpp"

namespace covary {
namespace {

constexpr double normal_975 = 1.959963984540054;  // Φ⁻¹(0.975)
constexpr Index most_counts = 60;                 // bars of a rootogram

// The column beside y as the likelihood has it, of one row.
double model_aux(const GeneralisedFit& fit, ConstVector aux, Index row) {
  if (aux.size() == 0) return fit.likelihood.node().default_aux();
  const double scale = fit.likelihood.aux() == Aux::noise ? fit.output_scaling.scale(0) : 1.0;
  return aux(row) / (scale * scale);
}

PredictiveTable table_of(const GeneralisedFit& fit, const FunctionMarginals& f, Index row,
                         double aux) {
  return {fit.likelihood, fit.likelihood_parameters, f.mean.row(row).transpose(),
          f.variance.row(row).transpose(), aux};
}

Vector in_data_units(const GeneralisedFit& fit, const Vector& y) {
  return (y.array() * fit.output_scaling.scale(0) + fit.output_scaling.shift(0)).matrix();
}

// Of rows with an exposure or trials: what a picture on one input is drawn for.
double usual_aux(ConstVector aux) {
  std::vector<double> sorted(aux.begin(), aux.end());
  std::nth_element(sorted.begin(), sorted.begin() + static_cast<std::ptrdiff_t>(sorted.size() / 2),
                   sorted.end());
  return sorted[sorted.size() / 2];
}

const std::string& named(const std::string& name, const std::string& otherwise) {
  return name.empty() ? otherwise : name;
}

}  // namespace

double TargetPredictions::inside() const {
  return (y.array() >= lower.array() && y.array() <= upper.array()).cast<double>().mean();
}

TargetPredictions target_predictions(const GeneralisedFit& fit, const TargetData& data,
                                     Index most_rows) {
  std::vector<Index> observed;
  for (Index i = 0; i < data.y.size(); ++i)
    if (!std::isnan(data.y(i))) observed.push_back(i);
  TargetPredictions out;
  const auto n = static_cast<Index>(observed.size()), shown = std::min(n, most_rows);
  for (Index i = 0; i < shown; ++i)
    out.rows.push_back(observed[static_cast<std::size_t>(i * n / shown)]);
  const RowMatrix X = data.X(out.rows, Eigen::all);
  const Vector aux = data.aux.size() ? Vector(data.aux(out.rows)) : Vector();
  const GeneralisedPrediction p = fit.predict(X, aux);
  out.y = data.y(out.rows);
  out.mean = p.mean;
  out.lower = out.upper = out.below = out.at_most = Vector(shown);
  const Vector scaled = fit.output_scaling.apply(out.y);
  Matrix expected = Matrix::Zero(most_counts, shown);
  std::vector<char> whole(static_cast<std::size_t>(shown));
  parallel_for(shown, [&](Index i) {
    const PredictiveTable t = table_of(fit, p.f, i, model_aux(fit, aux, i));
    out.lower(i) = t.quantile(0.025);
    out.upper(i) = t.quantile(0.975);
    out.below(i) = t.below(scaled(i));
    out.at_most(i) = t.at_most(scaled(i));
    whole[static_cast<std::size_t>(i)] = t.whole_numbers();
    if (t.whole_numbers())
      for (Index k = 0; k < most_counts; ++k) {
        const auto count = static_cast<double>(k);
        expected(k, i) = t.at_most(count) - t.below(count);
      }
  });
  out.lower = in_data_units(fit, out.lower);
  out.upper = in_data_units(fit, out.upper);
  out.whole_numbers = shown > 0 && whole.front();
  if (out.whole_numbers) out.expected = expected.rowwise().sum();
  return out;
}

Figure target_curve(const GeneralisedFit& fit, const TargetData& data) {
  constexpr Index grid_size = 161;
  Range range;
  range.include(data.X.col(0));
  const Range shown = range.padded(0.08);
  const Vector x = Vector::LinSpaced(grid_size, shown.low(), shown.high());
  const bool beside = data.aux.size() != 0;
  const double usual = beside ? usual_aux(data.aux) : fit.likelihood.node().default_aux();
  const Vector aux = beside ? Vector(Vector::Constant(grid_size, usual)) : Vector();
  const GeneralisedPrediction p = fit.predict(RowMatrix(x), aux);

  Vector lower(grid_size), upper(grid_size);
  parallel_for(grid_size, [&](Index i) {
    const PredictiveTable t = table_of(fit, p.f, i, model_aux(fit, aux, i));
    lower(i) = t.quantile(0.025);
    upper(i) = t.quantile(0.975);
  });
  const std::string output = fit.target();
  const std::string input = fit.input_names().empty() ? "x" : fit.input_names().front();
  Chart chart("The fit of " + output, input, output, true);
  chart.band(x, in_data_units(fit, lower), in_data_units(fit, upper), Ink::outcome,
             "95 % band of a new observation");
  // E(y | f) rises or falls with a single f: its quantiles are those of f, seen through it.
  if (fit.posterior.functions() == 1) {
    const Vector half = normal_975 * p.f.variance.col(0).cwiseSqrt();
    const Matrix none = Matrix::Zero(grid_size, 1);
    const auto at = [&](const Vector& f) -> Vector {
      return in_data_units(
          fit, predictive_moments(fit.likelihood, fit.likelihood_parameters, f, none, aux).mean);
    };
    const Vector a = at(p.f.mean.col(0) - half), b = at(p.f.mean.col(0) + half);
    chart.band(x, a.cwiseMin(b), a.cwiseMax(b), Ink::function, "95 % band of the expected value");
  }
  chart.line(x, p.mean, Ink::mean, "mean");
  Vector y = data.y;
  const bool scales = beside && fit.likelihood.aux() != Aux::noise;
  if (scales) y = (y.array() * usual / data.aux.array()).matrix();
  chart.points(data.X.col(0), y, Ink::held_out, named(data.name, "the rows given"));
  if (fit.posterior.can(Capability::inducing)) {
    const InducingView u = fit.posterior.inducing();
    chart.rug(fit.input_scaling.undo(u.features->where(u.z.data())).col(0), Ink::data,
              "where the inducing variables are");
  }
  if (scales)
    chart.caption(fmt::format(
        "Drawn for an exposure or number of trials of {}, to which the observations are scaled.",
        short_number(usual)));
  return chart.x_limits(x(0), x(grid_size - 1))
      .describe(fmt::format("{} against {} from {} to {}: {} observations, their mean as predicted "
                            "between {} and {}, its band and the wider band of new observations.",
                            output, input, short_number(x(0)), short_number(x(grid_size - 1)),
                            (data.y.array() == data.y.array()).count(),
                            short_number(p.mean.minCoeff()), short_number(p.mean.maxCoeff())))
      .figure();
}

Figure rootogram(const TargetPredictions& p, const std::string& output) {
  const double largest = p.y.maxCoeff();
  const Index bars =
      static_cast<Index>(std::min(largest, static_cast<double>(most_counts) - 1)) + 1;
  Vector observed = Vector::Zero(bars);
  for (const double y : p.y)
    if (y < static_cast<double>(bars)) observed(static_cast<Index>(y)) += 1.0;
  const Vector counts = Vector::LinSpaced(bars, 0.0, static_cast<double>(bars - 1));
  const Vector edges = Vector::LinSpaced(bars + 1, -0.5, static_cast<double>(bars) - 0.5);
  const Vector expected = p.expected.head(bars);
  Chart chart("Rootogram", output, "√ of how many");
  chart.columns(edges, observed.cwiseSqrt(), Ink::a, "observed")
      .line(counts, expected.cwiseSqrt(), Ink::mean, "predicted")
      .points(counts, expected.cwiseSqrt(), Ink::mean);
  std::string caption =
      "How often each value was observed and how often the predictions expect it. Square roots "
      "make small frequencies visible, and equal distances equally surprising.";
  if (largest >= static_cast<double>(bars))
    caption += fmt::format(" Values of {} and above are not drawn.", bars);
  return chart.caption(caption)
      .describe(fmt::format("Zero was observed {} times and expected {} times; {} values in all.",
                            observed(0), short_number(expected(0)), p.size()))
      .figure();
}

}  // namespace covary
