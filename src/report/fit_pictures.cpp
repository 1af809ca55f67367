#include "report/fit_pictures.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "covary/error.hpp"
#include "kernels/scaled.hpp"
#include "report/axis.hpp"
#include "report/text.hpp"
#include "report/words.hpp"

namespace covary {
namespace {

constexpr double normal_975 = 1.959963984540054;  // Φ⁻¹(0.975)
constexpr Index grid_size = 241;

bool keeps_rows(const RegressionFit& fit) { return fit.posterior.can(Capability::training_inputs); }

// Rows that cover the inputs, in the units the model saw: the training inputs, or the inducing
// inputs of a sparse model, which does not keep the others.
RowMatrix model_inputs(const RegressionFit& fit) {
  if (keeps_rows(fit)) return fit.posterior.training_inputs();
  const InducingView u = fit.posterior.inducing();
  return u.features->where(u.z.data());
}

const char* rug_words(const RegressionFit& fit) {
  return keeps_rows(fit) ? "where the data are" : "where the inducing variables are";
}

double median(Vector v) {
  std::sort(v.begin(), v.end());
  const Index n = v.size();
  return 0.5 * (v((n - 1) / 2) + v(n / 2));
}

Vector grid(ConstVector x, double margin) {
  Range range;
  range.include(x);
  const Range shown = range.padded(margin);
  return Vector::LinSpaced(grid_size, shown.low(), shown.high());
}

void add_bands(Chart& chart, const Vector& x, const Prediction& p, Index output) {
  const Vector mean = p.mean.col(output);
  const Vector f = normal_975 * p.variance_f.col(output).cwiseSqrt(),
               y = normal_975 * p.variance_y.col(output).cwiseSqrt();
  chart.band(x, mean - y, mean + y, Ink::outcome, "95 % band of a new observation")
      .band(x, mean - f, mean + f, Ink::function, "95 % band of the function");
}

// Draws as functions are smooth; kernels without random features are drawn jointly.
std::vector<RowMatrix> function_draws(const RegressionFit& fit, const RowMatrix& X,
                                      const RegressionReportOptions& options) {
  if (options.draws == 0) return {};
  std::vector<RowMatrix> out;
  try {
    try {
      for (const auto& f : fit.sample_functions(options.draws, options.seed)) out.push_back(f(X));
    } catch (const Unsupported&) {
      out = fit.sample(X, options.draws, options.seed);
    }
  } catch (const NumericalError&) {
    out.clear();  // the bands remain
  }
  return out;
}

// Σ over rows of the squared slope of the posterior mean, times the spread of the input.
Vector slopes(const RegressionFit& fit) {
  const RowMatrix all = model_inputs(fit);
  const Index n = std::min<Index>(all.rows(), 200), D = all.cols();
  RowMatrix X(n, D);
  for (Index i = 0; i < n; ++i) X.row(i) = all.row(n < 2 ? 0 : i * (all.rows() - 1) / (n - 1));
  Vector out = Vector::Zero(D);
  for (Index p = 0; p < fit.posterior.functions(); ++p)
    out += fit.posterior.gradient(X, p).mean.array().square().matrix().colwise().sum().transpose();
  for (Index d = 0; d < D; ++d) {
    const auto x = all.col(d).array();
    out(d) = std::sqrt(out(d) * (x - x.mean()).square().mean());
  }
  return out;
}

// Whether entry d of the kernel's parameters is about column d: no part acts on chosen columns.
bool sees_columns_in_place(const KernelPtr& kernel, Index dims) {
  const KernelPtr k = split_scale(kernel).second;
  if (k->over_columns(dims).columns.size() == 1) return false;
  const auto in_place = [&](const KernelPtr& part) { return sees_columns_in_place(part, dims); };
  const auto terms = k->terms(), factors = k->factors();
  return std::all_of(terms.begin(), terms.end(), in_place) &&
         std::all_of(factors.begin(), factors.end(), in_place);
}

Vector over_largest(const Vector& v) {
  const double largest = v.size() ? v.maxCoeff() : 0.0;
  return largest > 0.0 && std::isfinite(largest) ? Vector(v / largest)
                                                 : Vector(Vector::Zero(v.size()));
}

}  // namespace

RowMatrix shown_inputs(const RegressionFit& fit) {
  return fit.input_scaling.undo(model_inputs(fit));
}

std::vector<Relevance> relevances(const RegressionFit& fit) {
  const Index D = fit.posterior.dims();
  std::vector<Relevance> out;
  if (sees_columns_in_place(fit.posterior.kernel().pointer(), D))
    for (const auto& p : fit.parameters.all())
      if (D > 1 && p.path.ends_with("lengthscales") && p.value.size() == D)
        out.push_back({over_largest(p.value.cwiseInverse()), fmt::format("1/{}, relative", p.path),
                       "The shorter the lengthscale of an input, in units of the input's spread, "
                       "the more the function changes along it."});
  if (out.empty())
    out.push_back(
        {over_largest(slopes(fit)), "slope of the mean, relative",
         "The root-mean-square slope of the posterior mean at the rows of the model, times "
         "the spread of the input."});
  return out;
}

Vector overall_relevance(const std::vector<Relevance>& all, Index dims) {
  Vector out = Vector::Zero(dims);
  for (const auto& r : all) out = out.cwiseMax(r.values);
  return out;
}

Figure relevance_figure(const RegressionFit& fit, const Relevance& relevance) {
  const Index D = relevance.values.size(), most = 30;
  std::vector<Index> order(static_cast<std::size_t>(D));
  for (Index d = 0; d < D; ++d) order[static_cast<std::size_t>(d)] = d;
  std::stable_sort(order.begin(), order.end(),
                   [&](Index a, Index b) { return relevance.values(a) > relevance.values(b); });
  if (D > most) order.resize(static_cast<std::size_t>(most));
  std::vector<std::string> names;
  names.reserve(order.size());
  for (const Index d : order) names.push_back(input_name(fit, d));
  Figure out =
      bar_chart("Relevance of the inputs", names, Vector(relevance.values(order)), relevance.name);
  out.caption = relevance.words;
  if (D > most) out.caption += fmt::format(" The {} largest of {}.", most, D);
  return out;
}

std::vector<Figure> training_figures(const Summary& summary) {
  const Index n = static_cast<Index>(summary.trace.size());
  if (n < 2) return {};
  Vector iteration(n), value(n), gradient(n);
  for (Index i = 0; i < n; ++i) {
    const auto& p = summary.trace[static_cast<std::size_t>(i)];
    iteration(i) = static_cast<double>(p.iteration);
    value(i) = p.value;
    gradient(i) = p.gradient_norm;
  }
  // The first steps climb far: what matters is read near the top, so the foot may be cut off.
  const Vector late = value.tail(n - n / 4);
  Range top;
  top.include(late);
  top.include(summary.value);
  const Range shown = top.padded(0.08);
  Chart objective("Objective", "iteration", "log evidence and prior");
  objective.line(iteration, value, Ink::a)
      .describe(fmt::format("The objective rises from {} to {} in {} iterations.",
                            short_number(value(0)), short_number(value(n - 1)), n - 1));
  if (n >= 8 && Range::drawable(value(0)) &&
      value(0) < shown.low() - 5.0 * (shown.high() - shown.low()))
    objective.y_limits(shown.low(), shown.high())
        .caption(fmt::format("It starts at {}, below the picture.", short_number(value(0))));
  return {objective.figure(),
          Chart("Gradient", "iteration", "largest entry of the gradient")
              .line(iteration, gradient, Ink::a)
              .log_y()
              .describe(fmt::format("The gradient falls from {} to {}.", short_number(gradient(0)),
                                    short_number(gradient(n - 1))))
              .figure()};
}

Vector curve_inputs(const RegressionFit& fit) { return grid(shown_inputs(fit).col(0), 0.12); }

Figure curve_figure(const RegressionFit& fit, Index output,
                    const RegressionReportOptions& options) {
  const RowMatrix X = shown_inputs(fit);
  const Vector x = curve_inputs(fit);
  const RowMatrix at = x;
  const Prediction p = fit.predict(at);
  const std::string name = output_name(fit, output);
  Chart chart("The fit of " + name, input_name(fit, 0), name, true);
  chart.dates_on_x(is_date(fit.formats, input_name(fit, 0)));
  add_bands(chart, x, p, output);
  const auto draws = function_draws(fit, at, options);
  for (std::size_t i = 0; i < draws.size(); ++i)
    chart.line(x, draws[i].col(output), Ink::draw, i == 0 ? "draws of the function" : "");
  chart.line(x, p.mean.col(output), Ink::mean, "mean");
  if (keeps_rows(fit))
    chart.points(X.col(0), fit.output_scaling.undo(fit.posterior.training_outputs()).col(output),
                 Ink::data, "training data");
  else
    chart.rug(X.col(0), Ink::data, rug_words(fit));
  if (options.held_out)
    chart.points(options.held_out->X.col(0), options.held_out->Y.col(output), Ink::held_out,
                 "held-out data");
  chart.x_limits(x(0), x(x.size() - 1));
  if (keeps_rows(fit) && X.rows() > 1500)
    chart.caption(fmt::format("1500 of {} rows are shown.", X.rows()));
  return chart
      .describe(
          fmt::format("{} against {} from {} to {}: {} {}, the mean of the function between {} "
                      "and {}, its band, the wider band of new observations and {} draws.",
                      name, input_name(fit, 0), short_number(x(0)), short_number(x(x.size() - 1)),
                      X.rows(), keeps_rows(fit) ? "training points" : "inducing inputs",
                      short_number(p.mean.col(output).minCoeff()),
                      short_number(p.mean.col(output).maxCoeff()), draws.size()))
      .figure();
}

std::vector<Figure> component_figures(const RegressionFit& fit, Index output) {
  const auto terms = fit.posterior.kernel().terms(fit.posterior.dims());
  if (terms.size() < 2) return {};
  const Vector x = curve_inputs(fit);
  const auto parts = fit.components(RowMatrix(x));
  std::vector<Figure> out;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    if (terms[i].node->is_white()) continue;
    const Vector mean = parts[i].mean.col(output),
                 half = normal_975 * parts[i].variance.col(output).cwiseSqrt();
    out.push_back(
        Chart(parts[i].name, input_name(fit, 0), output_name(fit, output))
            .dates_on_x(is_date(fit.formats, input_name(fit, 0)))
            .band(x, mean - half, mean + half, Ink::function, "95 % band")
            .line(x, mean, Ink::mean, "mean")
            .describe(fmt::format("The part of {} due to {}, between {} and {}.",
                                  output_name(fit, output), parts[i].name,
                                  short_number(mean.minCoeff()), short_number(mean.maxCoeff())))
            .figure());
  }
  return out;
}

std::vector<Figure> slice_figures(const RegressionFit& fit, Index output,
                                  const std::vector<Index>& inputs) {
  const RowMatrix X = shown_inputs(fit);
  Vector middle(X.cols());
  for (Index d = 0; d < X.cols(); ++d) middle(d) = median(X.col(d));
  struct Slice {
    Vector x;
    Prediction p;
  };
  std::vector<Slice> slices;
  Range heights;  // shared, so that the slices compare
  for (const Index d : inputs) {
    RowMatrix at = middle.transpose().replicate(grid_size, 1);
    Slice s{grid(X.col(d), 0.0), {}};
    at.col(d) = s.x;
    s.p = fit.predict(at);
    const Vector half = normal_975 * s.p.variance_y.col(output).cwiseSqrt();
    heights.include(s.p.mean.col(output) - half);
    heights.include(s.p.mean.col(output) + half);
    slices.push_back(std::move(s));
  }
  const Range shown = heights.padded(0.05);
  std::vector<Figure> out;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const Slice& s = slices[i];
    const std::string name = input_name(fit, inputs[i]);
    const Vector mean = s.p.mean.col(output);
    Chart chart("Along " + name, name, output_name(fit, output));
    add_bands(chart, s.x, s.p, output);
    out.push_back(
        chart.line(s.x, mean, Ink::mean, "mean")
            .dates_on_x(is_date(fit.formats, name))
            .rug(X.col(inputs[i]), Ink::data, rug_words(fit))
            .x_limits(s.x(0), s.x(s.x.size() - 1))
            .y_limits(shown.low(), shown.high())
            .describe(fmt::format("Along {} from {} to {} the mean of {} goes from {} to {}, at "
                                  "least {} and at most {}.",
                                  name, short_number(s.x(0)), short_number(s.x(s.x.size() - 1)),
                                  output_name(fit, output), short_number(mean(0)),
                                  short_number(mean(mean.size() - 1)),
                                  short_number(mean.minCoeff()), short_number(mean.maxCoeff())))
            .figure());
  }
  return out;
}

}  // namespace covary
