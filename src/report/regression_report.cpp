#include "covary/report/regression_report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "covary/error.hpp"
#include "covary/report/page.hpp"
#include "report/calibration.hpp"
#include "report/fit_pictures.hpp"
#include "report/text.hpp"
#include "report/words.hpp"

namespace covary {
namespace {

// Predictions of every output, one entry each.
using AllPredictions = std::vector<Predictions>;

AllPredictions leave_one_out_predictions(const RegressionFit& fit, const LeaveOneOut& loo) {
  const RowMatrix Y = fit.output_scaling.undo(fit.posterior.training_outputs());
  AllPredictions out;
  for (Index p = 0; p < Y.cols(); ++p)
    out.push_back(observed_predictions(Y.col(p), loo.mean.col(p), loo.variance.col(p)));
  return out;
}

AllPredictions held_out_predictions(const RegressionFit& fit, const HeldOutData& data) {
  const Index P = fit.posterior.functions();
  if (data.Y.cols() != P || data.Y.rows() != data.X.rows())
    throw InputError(fmt::format("the held-out outputs are {}×{}, expected {}×{}", data.Y.rows(),
                                 data.Y.cols(), data.X.rows(), P));
  if (data.Y.array().isNaN().all())
    throw InputError(
        fmt::format("the held-out data {} have no observed output; give rows with outputs",
                    data.name.empty() ? "" : "'" + data.name + "'"));
  const Prediction predicted = fit.predict(data.X);
  AllPredictions out;
  for (Index p = 0; p < P; ++p)
    out.push_back(
        observed_predictions(data.Y.col(p), predicted.mean.col(p), predicted.variance_y.col(p)));
  return out;
}

std::vector<std::string> parameter_row(const Parameter& p, Index k, double error) {
  std::string remark = !p.tied_to.empty() ? fmt::format("follows {} times {}", p.ratio, p.tied_to)
                       : p.trainable      ? ""
                                          : "fixed";
  return {p.value.size() == 1 ? p.path : fmt::format("{}[{}]", p.path, k),
          fmt::format("{:.6g}", p.value(k)),
          std::isfinite(error) ? fmt::format("{:.3g}", error) : "–",
          p.transform.describe(),
          p.prior ? p.prior->describe() : "–",
          remark.empty() ? "trained" : remark};
}

void add_parameters(Page& page, const RegressionFit& fit) {
  HtmlTable table{"Parameters, in the units that the model saw; a dash where there is none.",
                  {"name", "value", "standard error", "range", "prior", "status"},
                  {},
                  "lrrlll"};
  Index free = 0;
  for (const auto& p : fit.parameters.all()) {
    if (p.path == "features.Z") continue;  // they are drawn
    for (Index k = 0; k < p.value.size(); ++k) {
      const bool is_free = p.trainable && p.tied_to.empty();
      const double error =
          is_free && free < fit.standard_errors.size() ? fit.standard_errors(free) : std::nan("");
      table.rows.push_back(parameter_row(p, k, error));
      free += is_free;
    }
  }
  page.section("Parameters").table(table);
  if (fit.standard_errors.size() == 0)
    page.paragraph("Standard errors were not computed.");
  else
    page.paragraph(
        "Standard errors are from the curvature of the objective at the optimum; they hold when "
        "there is enough data for it to be nearly quadratic.");
  HtmlTable scaling{"What was subtracted from each column, and what the result was divided by.",
                    {"column", "shift", "scale"},
                    {},
                    "lrr"};
  const auto add = [&](const std::string& name, double shift, double scale) {
    scaling.rows.push_back({name, short_number(shift), short_number(scale)});
  };
  const auto names = fit.input_names();  // once: they are made of the columns
  for (Index d = 0; d < fit.input_scaling.cols(); ++d)
    add(d < static_cast<Index>(names.size()) ? names[static_cast<std::size_t>(d)]
                                             : input_name(fit, d),
        fit.input_scaling.shift(d), fit.input_scaling.scale(d));
  for (Index p = 0; p < fit.output_scaling.cols(); ++p)
    add(output_name(fit, p), fit.output_scaling.shift(p), fit.output_scaling.scale(p));
  page.table(scaling);
}

void add_evidence(Page& page, const RegressionFit& fit,
                  const std::optional<LeaveOneOut>& leave_one_out) {
  const Summary& s = fit.summary;
  const bool exact = fit.posterior.can(Capability::exact_evidence);
  const double observed = fit.posterior.observations();
  HtmlTable table{"How well the model explains the data, and what training did.",
                  {"quantity", "value"},
                  {},
                  "ll"};
  const auto add = [&](const char* name, std::string value) {
    table.rows.push_back({name, std::move(value)});
  };
  const std::string name = exact                   ? "log evidence"
                           : s.objective == "elbo" ? "lower bound of the log evidence"
                                                   : "log evidence of the approximate model";
  add(name.c_str(), fmt::format("{:.6g} nats{}", fit.value,
                                exact ? " (exact: lower and upper bound coincide)" : ""));
  if (!exact && s.upper_bound)
    add("upper bound of the log evidence",
        fmt::format("{:.6g} nats, {:.3g} above", *s.upper_bound, *s.upper_bound - fit.value));
  add("per observation", fmt::format("{:.4g} nats", fit.value / observed));
  for (const auto& [what, value] : fit.diagnostics) add(what.c_str(), fmt::format("{:.6g}", value));
  add("log prior of the parameters", fmt::format("{:.6g}", fit.log_prior));
  if (leave_one_out)
    add("leave-one-out log density", fmt::format("{:.6g} nats", leave_one_out->log_density));
  add("converged", fmt::format("{}: {}", s.converged ? "yes" : "no", s.reason));
  add("iterations", fmt::format("{}, with {} evaluations ({} rejected)", s.iterations,
                                s.evaluations, s.rejected_evaluations));
  add("largest entry of the gradient", short_number(s.gradient_norm));
  add("seconds", fmt::format("{:.3g}", s.seconds));
  add("jitter", fmt::format("{:.3g}", s.jitter));
  if (!s.route.empty()) add("route", s.route);
  page.section("Evidence and training").table(table);
  if (!s.starts.empty()) {
    HtmlTable starts{"The starts of the optimiser; the best is kept.",
                     {"start", "log evidence and prior", "iterations", "why it stopped"},
                     {},
                     "lrrl"};
    for (const auto& start : s.starts)
      starts.rows.push_back(
          {fmt::format("{}{}", start.index, start.index == s.best_start ? " (best)" : ""),
           start.value ? fmt::format("{:.6g}", *start.value) : "failed",
           fmt::format("{}", start.iterations), start.reason});
    page.table(starts);
  }
  const auto trace = training_figures(s);
  if (trace.empty())
    page.paragraph("Training recorded no trace to draw.");
  else
    page.figures(trace);
}

void add_fit(Page& page, const RegressionFit& fit, const RegressionReportOptions& options) {
  const Index D = fit.posterior.dims(), P = fit.posterior.functions(),
              drawn = std::min(P, options.most_outputs);
  const std::string others =
      drawn < P ? fmt::format(" The first {} of {} outputs are drawn.", drawn, P) : "";
  if (D == 1) {
    page.section("The fit");
    if (!others.empty()) page.paragraph(others);
    std::vector<Figure> curves;
    for (Index p = 0; p < drawn; ++p) curves.push_back(curve_figure(fit, p, options));
    if (fit.posterior.can(Capability::inducing))
      curves.push_back(features_figure(fit, curve_inputs(fit)));
    page.figures(curves);
    if (fit.posterior.kernel().terms(1).size() < 2) return;
    page.section("Components")
        .paragraph(
            "The parts of the function due to each term of the kernel; white noise is not drawn. "
            "They "
            "add up to the function less its mean level, and are less certain than their sum.");
    for (Index p = 0; p < drawn; ++p) {
      if (P > 1) page.heading(output_name(fit, p));
      page.figures(component_figures(fit, p));
    }
    return;
  }
  const auto all = relevances(fit);
  page.section("Relevance of the inputs");
  std::vector<Figure> bars;
  bars.reserve(all.size());
  for (const auto& r : all) bars.push_back(relevance_figure(fit, r));
  page.figures(bars);

  const Vector relevance = overall_relevance(all, D);
  const RowMatrix inputs = shown_inputs(fit);
  std::vector<Index> order;
  for (Index d = 0; d < D; ++d) {
    const auto x = inputs.col(d);
    if (x.maxCoeff() > x.minCoeff()) order.push_back(d);
  }
  const Index varying = static_cast<Index>(order.size());
  std::stable_sort(order.begin(), order.end(),
                   [&](Index a, Index b) { return relevance(a) > relevance(b); });
  if (varying > options.most_slices) order.resize(static_cast<std::size_t>(options.most_slices));
  page.section("Slices of the fit");
  if (order.empty()) {
    page.paragraph("No input varies, so there is nothing to draw.");
    return;
  }
  page.paragraph(fmt::format(
      "The prediction along one input with the others at their medians, the most relevant of {} "
      "inputs first{}{}. All slices have the same vertical scale.{}",
      D, varying > options.most_slices ? fmt::format(" ({} are drawn)", order.size()) : "",
      varying < D ? "; inputs that do not vary are omitted" : "", others));
  for (Index p = 0; p < drawn; ++p) {
    if (P > 1) page.heading(output_name(fit, p));
    page.figures(slice_figures(fit, p, order));
  }
}

void add_calibration(Page& page, const RegressionFit& fit, const AllPredictions& all,
                     Index most_outputs) {
  const Index P = static_cast<Index>(all.size());
  for (Index p = 0; p < std::min(P, most_outputs); ++p) {
    if (P > 1) page.heading(output_name(fit, p));
    const auto figures = calibration_figures(all[static_cast<std::size_t>(p)], output_name(fit, p));
    if (figures.empty()) page.paragraph("No observed value can be compared.");
    page.figures(figures);
  }
}

void add_scores(HtmlTable& table, const RegressionFit& fit, const AllPredictions& all,
                const std::string& what) {
  for (Index p = 0; p < static_cast<Index>(all.size()); ++p) {
    std::vector<std::string> row{
        all.size() == 1 ? what : fmt::format("{}, {}", output_name(fit, p), what)};
    for (auto& cell : score_cells(all[static_cast<std::size_t>(p)])) row.push_back(std::move(cell));
    table.rows.push_back(std::move(row));
  }
}

void append(std::vector<std::string>& to, std::vector<std::string> from) {
  to.insert(to.end(), from.begin(), from.end());
}

}  // namespace

void RegressionReportOptions::check() const {
  if (draws < 0 || draws > 50)
    throw InputError(fmt::format("draws must be 0 to 50, got {}", draws));
  if (most_slices < 1 || most_outputs < 1)
    throw InputError(
        fmt::format("slices ≥ 1, outputs ≥ 1 required; got {} and {}", most_slices, most_outputs));
}

std::string regression_report(const RegressionFit& fit, const RegressionReportOptions& options) {
  options.check();
  std::optional<LeaveOneOut> left_out;
  if (fit.posterior.can(Capability::training_inputs)) left_out = fit.leave_one_out();
  AllPredictions loo, held;
  if (left_out) loo = leave_one_out_predictions(fit, *left_out);
  if (options.held_out) held = held_out_predictions(fit, *options.held_out);

  std::vector<std::string> warnings = fit_warnings(fit);
  const auto named = [&](Index p, const char* what) {
    return fit.posterior.functions() == 1 ? std::string(what)
                                          : fmt::format("{}, {}", output_name(fit, p), what);
  };
  for (Index p = 0; p < static_cast<Index>(loo.size()); ++p)
    append(warnings,
           calibration_warnings(loo[static_cast<std::size_t>(p)], named(p, "Leave-one-out")));
  for (Index p = 0; p < static_cast<Index>(held.size()); ++p)
    append(warnings,
           calibration_warnings(held[static_cast<std::size_t>(p)], named(p, "Held-out data")));

  Page page(options.title, lead_sentence(fit));
  page.section("At a glance");
  std::vector<std::pair<std::string, std::string>> numbers{
      {"rows", fmt::format("{}", fit.posterior.rows())},
      {fit.posterior.can(Capability::exact_evidence) ? "log evidence (nats)"
                                                     : fit.summary.objective + " (nats)",
       fmt::format("{:.5g}", fit.value)}};
  const auto add_key = [&](const char* what, const Predictions& p) {
    const auto cells = score_cells(p);
    numbers.emplace_back(fmt::format("{} RMSE", what), cells[1]);
    numbers.emplace_back(fmt::format("{} 95\u00a0% coverage", what), cells[7]);
  };
  if (loo.size() == 1) add_key("leave-one-out", loo[0]);
  if (held.size() == 1) add_key("held-out", held[0]);
  page.key_numbers(numbers).list(kernel_words(fit)).paragraph(noise_words(fit));

  page.section("Warnings");
  if (warnings.empty()) page.paragraph("None.");
  page.list(warnings, true);

  add_fit(page, fit, options);

  HtmlTable scores{
      "Scores. RMSE, MAE and CRPS are in the units of the output; SMSE is 1 for the best constant; "
      "NLPD in nats; for all of these less is better.",
      {"predictions"},
      {},
      "lrrrrrrrr"};
  append(scores.header, score_names());
  add_scores(scores, fit, loo, "leave-one-out");
  if (options.held_out) add_scores(scores, fit, held, "held-out");
  page.section("Scores");
  if (scores.rows.empty())
    page.paragraph("A sparse model keeps no training rows; give held-out data to score it.");
  else
    page.table(scores);

  if (left_out) {
    page.section("Calibration by leave-one-out")
        .paragraph(
            "Each training row is predicted from all the others, in closed form, with the "
            "parameters of the fit.");
    add_calibration(page, fit, loo, options.most_outputs);
  }
  if (options.held_out) {
    page.section("Calibration on held-out data")
        .paragraph(
            fmt::format("Rows that were not used in training{}.",
                        options.held_out->name.empty() ? "" : ": " + options.held_out->name));
    add_calibration(page, fit, held, options.most_outputs);
  }
  add_parameters(page, fit);
  add_evidence(page, fit, left_out);
  return page.html();
}

}  // namespace covary
