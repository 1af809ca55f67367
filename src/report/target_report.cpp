#include "covary/report/target_report.hpp"

#include <fmt/format.h>

#include <cmath>

#include "covary/data/metrics.hpp"
#include "covary/error.hpp"
#include "covary/report/page.hpp"
#include "report/calibration.hpp"
#include "report/target_pictures.hpp"
#include "report/text.hpp"

namespace covary {
namespace {

std::string percent(double share) { return fmt::format("{:.1f} %", 100.0 * share); }

struct Scores {
  Index rows = 0;
  double rmse = 0.0, mae = 0.0, nlpd = 0.0;
};
Scores scores_of(const GeneralisedFit& fit, const TargetData& data) {
  const Vector mean = fit.predict(data.X, data.aux).mean;
  Scores out{0, rmse(data.y, mean), mae(data.y, mean), 0.0};
  for (const double d : Vector(fit.log_density(data.X, data.y, data.aux)))
    if (!std::isnan(d)) ++out.rows, out.nlpd -= d;
  out.nlpd /= static_cast<double>(out.rows);
  return out;
}

// What the predictions warn of, in plain words.
std::vector<std::string> prediction_warnings(const TargetPredictions& p) {
  std::vector<std::string> out;
  if (p.size() < 20) return out;
  const double n = static_cast<double>(p.size()), inside = p.inside();
  // Three standard errors. Of counts an interval holds more than 95 %, for it ends at whole
  // numbers: what is too wide does not show so.
  const double scatter = 3.0 * std::sqrt(0.95 * 0.05 / n);
  if (inside < 0.95 - scatter)
    out.push_back(fmt::format(
        "Only {} of the observations lie in their 95 % intervals: these are "
        "too narrow. Try a likelihood with a wider spread{}.",
        percent(inside), p.whole_numbers ? ", such as negative_binomial for counts" : ""));
  if (!p.whole_numbers && inside > 0.95 + scatter)
    out.push_back(
        fmt::format("{} of the observations lie in their 95 % intervals, which are wider than the "
                    "errors justify.",
                    percent(inside)));
  if (!p.whole_numbers) return out;
  const auto zeros = static_cast<double>((p.y.array() == 0.0).count());
  if (zeros > p.expected(0) + 4.0 * std::sqrt(std::max(1.0, p.expected(0))))
    out.push_back(
        fmt::format("{:.0f} observations are zero and {} were expected: there are more "
                    "zeros than the likelihood allows for.",
                    zeros, short_number(p.expected(0))));
  return out;
}

void add_fit(Page& page, const GeneralisedFit& fit) {
  HtmlTable table{"The fit.", {"quantity", "value"}, {}, "ll"};
  const Summary& s = fit.summary;
  table.rows = {{s.objective, fmt::format("{:.6g} nats", fit.value)},
                {"log prior of the parameters", fmt::format("{:.6g}", fit.log_prior)},
                {"converged", fmt::format("{}: {}", s.converged ? "yes" : "no", s.reason)},
                {"iterations", fmt::format("{}", s.iterations)},
                {"seconds", fmt::format("{:.3g}", s.seconds)},
                {"route", s.route}};
  for (const auto& [name, value] : fit.diagnostics)
    table.rows.push_back({name, fmt::format("{:.6g}", value)});
  HtmlTable parameters{"Parameters, in the units that the model saw.", {"name", "value"}, {}, "lr"};
  for (const Parameter& p : fit.parameters.all()) {
    if (p.path.ends_with("features.Z")) continue;  // hundreds of them
    for (Index k = 0; k < p.value.size(); ++k)
      parameters.rows.push_back({p.value.size() == 1 ? p.path : fmt::format("{}[{}]", p.path, k),
                                 fmt::format("{:.6g}", p.value(k))});
  }
  page.section("The fit").table(table).table(parameters);
}

}  // namespace

void TargetReportOptions::check() const {
  if (most_rows < 1)
    throw InputError(fmt::format("most_rows must be at least 1, got {}", most_rows));
}

std::string target_report(const GeneralisedFit& fit, const TargetData& data,
                          const TargetReportOptions& options) {
  options.check();
  if (fit.likelihood.classes() > 0)
    throw Unsupported(
        fmt::format("{} has classes; use classification_report", fit.likelihood.print()));
  if (fit.outputs() > 1)
    throw Unsupported(
        fmt::format("a report is of one output, and the model has {}; covary evaluate scores them",
                    fit.outputs()));
  if (data.y.size() != data.X.rows())
    throw InputError(fmt::format("{} targets for {} rows", data.y.size(), data.X.rows()));
  if (data.y.array().isNaN().all())
    throw InputError("no row of the report has a target; give rows with targets");
  const Scores scores = scores_of(fit, data);
  const TargetPredictions p = target_predictions(fit, data, options.most_rows);
  const std::string output = fit.target();

  Page page(options.title, fmt::format("{} with likelihood {} by {}, kernel {}, on {} rows.",
                                       output, fit.likelihood.print(), fit.model,
                                       fit.posterior.kernel().print(), fit.rows));
  page.section("At a glance");
  page.key_numbers({{"rows", fmt::format("{}", fit.rows)},
                    {fit.summary.objective + " (nats)", fmt::format("{:.5g}", fit.value)},
                    {"RMSE", short_number(scores.rmse)},
                    {"NLPD", short_number(scores.nlpd)},
                    {"in the 95\u00a0% interval", percent(p.inside())}});
  std::vector<std::string> warnings = fit.summary.warnings;
  for (auto& w : prediction_warnings(p)) warnings.push_back(std::move(w));
  page.section("Warnings");
  if (warnings.empty()) page.paragraph("None.");
  page.list(warnings, true);

  if (data.X.cols() == 1) page.section("The predictions").figures({target_curve(fit, data)});
  page.section("Scores").table(
      {"RMSE and MAE are in the units of the target, NLPD in nats; less is better.",
       {"predictions", "rows", "RMSE", "MAE", "NLPD", "in the 95 % interval"},
       {{data.name.empty() ? "rows given" : data.name, fmt::format("{}", scores.rows),
         short_number(scores.rmse), short_number(scores.mae), short_number(scores.nlpd),
         percent(p.inside())}},
       "lrrrrr"});
  page.section("Calibration");
  if (p.size() < scores.rows)
    page.paragraph(
        fmt::format("{} of {} rows, evenly spread over the table.", p.size(), scores.rows));
  std::vector<Figure> figures{predicted_against_observed(p.y, p.mean, output),
                              pit_histogram(p.below, p.at_most)};
  if (p.whole_numbers) figures.push_back(rootogram(p, output));
  page.figures(figures);
  add_fit(page, fit);
  return page.html();
}

}  // namespace covary
