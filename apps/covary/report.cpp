#include "covary/report/regression_report.hpp"

#include <fmt/format.h>

#include <filesystem>

#include "common.hpp"
#include "covary/data/columns.hpp"
#include "covary/data/file.hpp"
#include "covary/data/labels.hpp"
#include "covary/error.hpp"
#include "covary/models/model_file.hpp"
#include "covary/report/classification_report.hpp"
#include "covary/report/latent_report.hpp"
#include "covary/report/target_report.hpp"
#include "describe.hpp"
#include "model_choice.hpp"
#include "options.hpp"

namespace covary::cli {
namespace {

struct ReportArguments {
  std::string model, data, out, title, exposure, header = "auto";
};

std::string file_name(const std::string& path) {
  return std::filesystem::path(path).filename().string();
}

Outcome written(const ReportArguments& a, const std::string& page, const json& held_out) {
  write_file(a.out, page);
  return {{{"file", a.out}, {"bytes", page.size()}, {"held_out", held_out}},
          fmt::format("the report is in {} ({} kB): open it in a browser\n", a.out,
                      (page.size() + 999) / 1000),
          0};
}

RowMatrix inducing_inputs(const GeneralisedFit& fit) {
  if (!fit.posterior.can(Capability::inducing)) return {};
  const InducingView p = fit.posterior.inducing();
  return fit.data_inputs(p.features->where(p.z.data()));
}

// Counts, outliers, ….
Outcome report_targets(const SavedGeneralised& m, const ReportArguments& a, const Table& table) {
  TargetData data{file_name(a.data), m.inputs.apply(table),
                  numeric_columns(table, select_columns(table, {m.fit.output_name})).col(0)};
  if (!a.exposure.empty())
    data.aux = numeric_columns(table, select_columns(table, {a.exposure})).col(0);
  TargetReportOptions options;
  options.title = a.title.empty() ? "Report on " + file_name(a.model) : a.title;
  return written(a, target_report(m.fit, data, options), data.X.rows());
}

// What the pages of all classifiers have alike: scores on the rows of a table, and for one or two
// inputs a surface.
template <class Saved, class Probabilities>
Outcome report_classes(const Saved& m, const ReportArguments& a, const Table& table,
                       ClassificationReport r, const Probabilities& probabilities) {
  const RowMatrix X = m.inputs.apply(table);
  const Vector labels =
      Labels{m.fit.classes}.encode(table, select_columns(table, {m.fit.output_name}).front());
  r.title = a.title.empty() ? "Report on " + file_name(a.model) : a.title;
  r.classes = m.fit.classes;
  r.input_names = m.fit.input_names;
  r.predictions.push_back({file_name(a.data), labels, RowMatrix(probabilities(X)), X});
  if (X.cols() <= 2) {
    r.grid = ClassGrid::over(X);
    r.grid->probabilities = probabilities(r.grid->inputs());
    r.X = X;
    r.labels = labels;
  } else {
    r.Z = RowMatrix();
  }
  return written(a, classification_report(r), X.rows());
}

// The file keeps no targets, so a table of them is what there is to show.
Outcome report(const SavedGeneralised& m, const ReportArguments& a) {
  const GeneralisedFit& fit = m.fit;
  if (a.data.empty())
    throw InputError(
        fmt::format("a report of likelihood {} needs rows with targets; name a table with --data",
                    fit.likelihood.print()));
  const Table table = read_table(a.data, {parse_header(a.header)});
  if (fit.likelihood.classes() == 0) return report_targets(m, a, table);
  ClassificationReport r;
  r.lead = fmt::format("{} of {} by {}, kernel {}, {} rows{}", fit.likelihood.print(),
                       fit.output_name, fit.model, fit.posterior.kernel().print(), fit.rows,
                       seen_in_words(fit.input_map));
  r.summary = {{fit.summary.objective, fmt::format("{:.4f}", fit.value)},
               {"converged", fit.summary.converged ? "yes" : "no"},
               {"reason", fit.summary.reason},
               {"seconds", fmt::format("{:.3g}", fit.summary.seconds)}};
  r.warnings = fit.summary.warnings;
  r.Z = inducing_inputs(fit);
  return report_classes(m, a, table, std::move(r),
                        [&](ConstRows X) { return fit.predict(X).probabilities; });
}

Outcome report(const SavedClassDensity& m, const ReportArguments& a) {
  if (a.data.empty())
    throw InputError("a report of classes needs rows with targets; name a table with --data");
  ClassificationReport r;
  r.lead =
      fmt::format("densities of the {} classes of {}, {} rows, at most {} latent dimensions",
                  m.fit.size(), m.fit.output_name, m.fit.rows(), m.fit.densities.front().latent());
  for (std::size_t k = 0; k < m.fit.densities.size(); ++k)
    for (const auto& warning : m.fit.densities[k].summary.warnings)
      r.warnings.push_back(fmt::format("class {}: {}", m.fit.classes[k], warning));
  return report_classes(m, a, read_table(a.data, {parse_header(a.header)}), std::move(r),
                        [&](ConstRows X) { return m.fit.predict(X); });
}

Outcome report(const SavedModel& m, const ReportArguments& a) {
  RegressionReportOptions options;
  options.title = a.title.empty() ? "Report on " + file_name(a.model) : a.title;
  if (!a.data.empty()) {
    const Table table = read_table(a.data, {parse_header(a.header)});
    options.held_out =
        HeldOutData{file_name(a.data), m.inputs.apply(table),
                    numeric_columns(table, select_columns(table, m.fit.output_names))};
  }
  return written(a, regression_report(m.fit, options),
                 options.held_out ? json(options.held_out->X.rows()) : json(nullptr));
}

Prediction given_back(const PpcaFit& fit, ConstRows Y) { return fit.infer(Y).outputs; }
Prediction given_back(const MapGplvmFit& fit, ConstRows Y) { return fit.decode(fit.place(Y).X); }
Prediction given_back(const GplvmFit& fit, ConstRows Y) {
  const GplvmFit::Inferred found = fit.infer(Y);
  return fit.decode(found.mean, found.variance);
}

template <class Saved>
Outcome report(const Saved& m, const ReportArguments& a) {  // of a latent-variable model
  LatentReportOptions options;
  options.title = a.title.empty() ? "Report on " + file_name(a.model) : a.title;
  if (a.data.empty()) return written(a, latent_report(m.fit, options), nullptr);
  const Table table = read_table(a.data, {parse_header(a.header)});
  HeldOutRows rows{file_name(a.data),
                   numeric_columns(table, select_columns(table, m.fit.output_names)), Prediction()};
  rows.decoded = given_back(m.fit, rows.Y);
  const Index n = rows.Y.rows();
  options.held_out = std::move(rows);
  return written(a, latent_report(m.fit, options), n);
}

Outcome run_report(const ReportArguments& a, const std::vector<std::string>& given) {
  check_folder(a.out);
  const AnyModel model = load_any_model(a.model);
  check_options("report", given, model);
  return std::visit([&](const auto& m) { return report(m, a); }, model);
}

}  // namespace

void add_report(CLI::App& app, std::vector<std::unique_ptr<Verb>>& verbs) {
  auto* sub = app.add_subcommand("report", "A page with pictures of a fit");
  auto a = std::make_shared<ReportArguments>();
  auto verb = std::make_unique<Verb>();
  sub->add_option("FILE", a->model, "Model file")->required()->group("Data");
  OptionAdder add(*sub, "report");
  add("data", a->data);
  add("exposure", a->exposure);
  add("header", a->header)->check(CLI::IsMember({"auto", "yes", "no"}))->capture_default_str();
  add("out", a->out)->required();
  add("title", a->title);
  sub->footer("Example:\n  covary report model.cov --data test.csv --out report.html");
  add_common(*sub, verb->common);
  verb->app = sub;
  verb->run = [a, sub](const Common&) { return run_report(*a, given_options(*sub)); };
  verbs.push_back(std::move(verb));
}

}  // namespace covary::cli
