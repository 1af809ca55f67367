#include "covary/report/fit_report.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "covary/data/columns.hpp"
#include "covary/data/labels.hpp"
#include "covary/error.hpp"
#include "covary/models/class_density.hpp"
#include "covary/models/generalised_fit.hpp"
#include "covary/models/regression.hpp"
#include "covary/report/classification_report.hpp"
#include "covary/report/latent_report.hpp"
#include "covary/report/page.hpp"
#include "covary/report/regression_report.hpp"
#include "covary/report/target_report.hpp"

namespace covary {
namespace {

RowMatrix columns(const Table& table, const std::vector<std::string>& names) {
  return numeric_columns(table, select_columns(table, names));
}

std::string of_regression(const Fit& any, const FitReportOptions& o) {
  const auto& fit = any.as<RegressionFit>();
  RegressionReportOptions options;
  options.title = o.title;
  if (o.held_out)
    options.held_out = HeldOutData{o.held_out_name, fit.input_columns.apply(*o.held_out),
                                   columns(*o.held_out, fit.output_names)};
  return regression_report(fit, options);
}

const Table& held_out(const FitReportOptions& o, const std::string& of) {
  if (!o.held_out)
    throw InputError(
        fmt::format("a report of {} needs rows with targets; name a table with --data", of));
  return *o.held_out;
}

// What the pages of all classifiers have alike: scores on the rows of a table, and for one or two
// inputs a surface.
template <class ClassFit, class Probabilities>
std::string of_classes(const ClassFit& fit, const FitReportOptions& o, const Table& table,
                       ClassificationReport r, const Probabilities& probabilities) {
  const RowMatrix X = fit.input_columns.apply(table);
  const Vector labels =
      Labels{fit.classes}.encode(table, select_columns(table, fit.output_names).front());
  r.title = o.title;
  r.classes = fit.classes;
  r.input_names = fit.input_names();
  r.warnings = fit.summary.warnings;
  r.summary = {{fit.summary.objective, fmt::format("{:.4f}", fit.value)},
               {"converged", fit.summary.converged ? "yes" : "no"},
               {"reason", fit.summary.reason},
               {"seconds", fmt::format("{:.3g}", fit.summary.seconds)}};
  r.predictions.push_back({o.held_out_name, labels, RowMatrix(probabilities(X)), X});
  if (X.cols() <= 2) {
    r.grid = ClassGrid::over(X);
    r.grid->probabilities = probabilities(r.grid->inputs());
    r.X = X;
    r.labels = labels;
  } else {
    r.Z = RowMatrix();
  }
  return classification_report(r);
}

// The file keeps no targets, so a table of them is what there is to show.
std::string of_any_likelihood(const Fit& any, const FitReportOptions& o) {
  const auto& fit = any.as<GeneralisedFit>();
  const Table& table = held_out(o, "likelihood " + fit.likelihood.print());
  if (fit.likelihood.classes() == 0) {  // counts, outliers, …
    TargetData data{o.held_out_name, fit.input_columns.apply(table),
                    columns(table, fit.output_names).col(0)};
    if (!o.exposure.empty()) data.aux = columns(table, {o.exposure}).col(0);
    TargetReportOptions options;
    options.title = o.title;
    return target_report(fit, data, options);
  }
  if (!o.exposure.empty())
    throw Unsupported(
        fmt::format("--exposure is for counts and trials, not for '{}'", fit.likelihood.print()));
  ClassificationReport r;
  r.lead = fit.in_a_sentence();
  if (fit.posterior.can(Capability::inducing)) {
    const InducingView p = fit.posterior.inducing();
    r.Z = fit.data_inputs(p.features->where(p.z.data()));
  }
  return of_classes(fit, o, table, std::move(r),
                    [&](ConstRows X) { return fit.predict(X).probabilities; });
}

std::string of_class_densities(const Fit& any, const FitReportOptions& o) {
  const auto& fit = any.as<ClassDensityFit>();
  ClassificationReport r;
  r.lead =
      fmt::format("densities of the {} classes of {}, {} rows, at most {} latent dimensions",
                  fit.size(), fit.output_names.front(), fit.rows(), fit.densities.front().latent());
  return of_classes(fit, o, held_out(o, "classes"), std::move(r),
                    [&](ConstRows X) { return fit.predict(X); });
}

Prediction given_back(const PpcaFit& fit, ConstRows Y) { return fit.infer(Y).outputs; }
Prediction given_back(const MapGplvmFit& fit, ConstRows Y) { return fit.decode(fit.place(Y).X); }
Prediction given_back(const GplvmFit& fit, ConstRows Y) {
  const GplvmFit::Inferred found = fit.infer(Y);
  return fit.decode(found.mean, found.variance);
}

template <class LatentFit>
std::string of_latent(const Fit& any, const FitReportOptions& o) {
  const auto& fit = any.as<LatentFit>();
  LatentReportOptions options;
  options.title = o.title;
  if (o.held_out) {
    HeldOutRows rows{o.held_out_name, columns(*o.held_out, fit.output_names), Prediction()};
    rows.decoded = given_back(fit, rows.Y);
    options.held_out = std::move(rows);
  }
  return latent_report(fit, options);
}

// What every fit has.
std::string of_any(const Fit& fit, const FitReportOptions& o) {
  const Answer said = fit->describe();
  const Summary& s = fit->summary;
  Page page(o.title, said.text.substr(0, said.text.find('\n')));
  page.key_numbers({{s.objective, fmt::format("{:.6g}", fit->value)},
                    {"converged", s.converged ? "yes" : "no"},
                    {"seconds", fmt::format("{:.3g}", s.seconds)}});
  if (!s.warnings.empty()) page.list(s.warnings, true);
  HtmlTable parameters{"Parameters, in the units that the model saw.", {"name", "value"}, {}, "lr"};
  for (const Parameter& p : fit->parameters.all())
    for (Index k = 0; k < p.value.size(); ++k)
      parameters.rows.push_back({p.value.size() == 1 ? p.path : fmt::format("{}[{}]", p.path, k),
                                 fmt::format("{:.6g}", p.value(k))});
  if (!parameters.rows.empty()) page.section("Parameters").table(parameters);
  if (o.held_out) {
    const auto scores = nlohmann::json::parse(fit->evaluate(*o.held_out, {}).json);
    HtmlTable table{"Scores on " + o.held_out_name + ".", {"score", "value"}, {}, "lr"};
    for (const auto& [name, value] : scores.items())
      if (value.is_number())
        table.rows.push_back({name, fmt::format("{:.6g}", value.get<double>())});
    page.section("Scores").table(table);
  }
  return page.html();
}

struct KindOfPage {
  const char* kind;
  std::string (*page)(const Fit& fit, const FitReportOptions& options);
};
constexpr KindOfPage pages[] = {
    {"regression", of_regression},         {"generalised", of_any_likelihood},
    {"class_density", of_class_densities}, {"gplvm", of_latent<GplvmFit>},
    {"map_gplvm", of_latent<MapGplvmFit>}, {"ppca", of_latent<PpcaFit>}};

}  // namespace

std::string fit_report(const Fit& fit, const FitReportOptions& options) {
  for (const KindOfPage& page : pages)
    if (fit->kind() == page.kind) return page.page(fit, options);
  return of_any(fit, options);
}

}  // namespace covary
