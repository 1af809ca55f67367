// The pages of a fit: report and explore.
#include <fmt/format.h>

#include <filesystem>

#include "covary/data/file.hpp"
#include "covary/report/fit_report.hpp"
#include "covary/report/latent_explorer.hpp"
#include "data_arguments.hpp"
#include "options.hpp"

namespace covary::cli {
namespace {

struct PageArguments {
  std::string model, data, out, title, exposure, header = "auto", missing = "auto", draw = "auto";
  std::vector<std::string> given = {};
};

std::string file_name(const std::string& path) {
  return std::filesystem::path(path).filename().string();
}

Outcome written(const std::string& out, const std::string& page, const char* then) {
  write_file(out, page);
  return {{{"file", out}, {"bytes", page.size()}},
          fmt::format("the {} is in {} ({} kB): open it in a browser{}\n",
                      *then ? "page" : "report", out, (page.size() + 999) / 1000, then),
          0};
}

Outcome run_report(const PageArguments& a, const Common& common) {
  check_folder(a.out);
  const Fit fit = load_for("report", a.model, a.given);
  FitReportOptions options;
  options.title = a.title.empty() ? "Report on " + file_name(a.model) : a.title;
  options.exposure = a.exposure;
  std::optional<Table> table;
  if (!a.data.empty()) {
    check_missing(*fit, a.missing);
    TableQuestion rows;
    // A density of rows takes missing cells as they are.
    rows.missing = a.missing == "auto" && fit->kind() != "class_density" ? "error" : a.missing;
    rows.tell = teller(common);
    table = asked_rows(*fit, read_table(a.data, table_options(a.header, *fit)), rows);
    options.held_out = &*table;
    options.held_out_name = file_name(a.data);
  }
  Outcome out = written(a.out, fit_report(fit, options), "");
  out.object["held_out"] = table ? json(table->rows()) : json(nullptr);
  return out;
}

Outcome run_explore(const PageArguments& a) {
  check_folder(a.out);
  const Fit fit = load_for("explore", a.model, a.given);
  LatentExplorerOptions options;
  options.draw = a.draw;
  options.title = a.title.empty() ? "The latent space of " + file_name(a.model) : a.title;
  return written(a.out, latent_explorer(fit.as<GplvmFit>(), options), " and move the pointer");
}

}  // namespace

void add_report(CLI::App& app, std::vector<std::unique_ptr<Verb>>& verbs) {
  auto* sub = app.add_subcommand("report", "Write an HTML report of a fit");
  auto a = std::make_shared<PageArguments>();
  auto verb = std::make_unique<Verb>();
  sub->add_option("FILE", a->model, "Model file")->required()->group("Data");
  OptionAdder add(*sub, "report");
  add("data", a->data);
  add("missing", a->missing)
      ->check(CLI::IsMember({"auto", "drop", "error"}))
      ->capture_default_str();
  add("exposure", a->exposure);
  add("header", a->header)->check(CLI::IsMember({"auto", "yes", "no"}))->capture_default_str();
  add("out", a->out)->required();
  add("title", a->title);
  sub->footer("Example:\n  covary report model.cov --data test.csv --out report.html");
  add_common(*sub, verb->common);
  verb->app = sub;
  verb->run = [a, sub](const Common& common) {
    a->given = given_options(*sub);
    return run_report(*a, common);
  };
  verbs.push_back(std::move(verb));
}

void add_explore(CLI::App& app, std::vector<std::unique_ptr<Verb>>& verbs) {
  auto* sub = app.add_subcommand("explore", "Write an HTML page to explore a latent space");
  auto a = std::make_shared<PageArguments>();
  auto verb = std::make_unique<Verb>();
  sub->add_option("FILE", a->model, "Model file of a latent-variable model")
      ->required()
      ->group("Data");
  OptionAdder add(*sub, "explore");
  add("draw", a->draw)->capture_default_str();
  add("out", a->out)->required();
  add("title", a->title);
  sub->footer("Example:\n  covary explore latent.cov --out latent.html");
  add_common(*sub, verb->common);
  verb->app = sub;
  verb->run = [a, sub](const Common&) {
    a->given = given_options(*sub);
    return run_explore(*a);
  };
  verbs.push_back(std::move(verb));
}

}  // namespace covary::cli
