#include "covary/report/regression_report.hpp"

#include <fmt/format.h>

#include <filesystem>

#include "common.hpp"
#include "covary/data/columns.hpp"
#include "covary/data/file.hpp"
#include "covary/storage/model_file.hpp"

namespace covary::cli {
namespace {

struct ReportArguments {
  std::string model, data, out, title, header = "auto";
};

std::string file_name(const std::string& path) {
  return std::filesystem::path(path).filename().string();
}

Outcome run_report(const ReportArguments& a) {
  check_folder(a.out);
  const SavedModel m = load_model(a.model);
  RegressionReportOptions options;
  options.title = a.title.empty() ? "Report on " + file_name(a.model) : a.title;
  if (!a.data.empty()) {
    const Table table = read_table(a.data, {parse_header(a.header)});
    options.held_out =
        HeldOutData{file_name(a.data), m.inputs.apply(table),
                    numeric_columns(table, select_columns(table, m.fit.output_names))};
  }
  const std::string page = regression_report(m.fit, options);
  write_file(a.out, page);
  return {{{"file", a.out},
           {"bytes", page.size()},
           {"held_out", options.held_out ? json(options.held_out->X.rows()) : json(nullptr)}},
          fmt::format("the report is in {} ({} kB): open it in a browser\n", a.out,
                      (page.size() + 999) / 1000),
          0};
}

}  // namespace

void add_report(CLI::App& app, std::vector<std::unique_ptr<Verb>>& verbs) {
  auto* sub = app.add_subcommand("report", "A page with pictures of a fit");
  auto a = std::make_shared<ReportArguments>();
  auto verb = std::make_unique<Verb>();
  sub->add_option("FILE", a->model, "Model file")->required();
  sub->add_option("--data", a->data, "Held-out table with inputs and outputs, to score on");
  sub->add_option("--out", a->out, "HTML page to write")->required();
  sub->add_option("--title", a->title, "Title of the page");
  sub->add_option("--header", a->header, "auto, yes or no")
      ->check(CLI::IsMember({"auto", "yes", "no"}))
      ->capture_default_str();
  sub->footer("Example:\n  covary report model.cov --data test.csv --out report.html");
  add_common(*sub, verb->common);
  verb->app = sub;
  verb->run = [a](const Common&) { return run_report(*a); };
  verbs.push_back(std::move(verb));
}

}  // namespace covary::cli
