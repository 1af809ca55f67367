#include <fmt/format.h>

#include <algorithm>
#include <fstream>

#include "covary/data/file.hpp"
#include "covary/data/table.hpp"
#include "covary/error.hpp"
#include "covary/parameters/suggest.hpp"
#include "covary/report/page.hpp"
#include "covary/report/table_picture.hpp"
#include "experiments.hpp"
#include "program.hpp"

namespace covary::cli {
namespace {

Outcome list() {
  Outcome out;
  out.object = {{"experiments", json::array()}};
  for (const auto& e : experiments::all()) {
    out.object["experiments"].push_back(
        {{"name", e.name}, {"what", e.what}, {"data", e.data}, {"long", e.long_run}});
    out.text +=
        fmt::format("{:<26} {}{}{}\n", e.name, e.what,
                    e.data.empty() ? "" : fmt::format("; data: {}", fmt::join(e.data, ", ")),
                    e.long_run ? "; takes minutes" : "");
  }
  return out;
}

// Which of the files are there.
std::string places(const std::string& files) {
  std::string out;
  for (std::size_t at = 0; at < files.size();) {
    const auto end = std::min(files.find(", ", at), files.size());
    const std::string file = files.substr(at, end - at);
    try {
      out += fmt::format("  {}\n", find_data(file));
    } catch (const FileError&) {
      out += fmt::format("  {} is missing\n", file);
    }
    at = end + 2;
  }
  return out;
}

Outcome data_sets(const std::string& name) {
  Outcome out;
  out.object = {{"data", json::array()}};
  std::vector<std::string> names;
  for (const auto& d : experiments::data_sources()) {
    names.push_back(d.name);
    if (!name.empty() && d.name != name) continue;
    out.object["data"].push_back({{"name", d.name},
                                  {"what", d.what},
                                  {"files", d.files},
                                  {"from", d.from},
                                  {"columns", d.columns}});
    out.text += fmt::format("{}: {}\n  from {}\n  columns: {}\n{}", d.name, d.what, d.from,
                            d.columns, places(d.files));
  }
  if (out.text.empty())
    throw InputError(fmt::format("no data set '{}'{}; see covary experiment data", name,
                                 did_you_mean(name, names)));
  out.text +=
      "Download what is missing, write it as a file with these columns and a header, and put it "
      "below ./data or the folder that COVARY_DATA names. Each set has terms of use of its own.\n";
  return out;
}

json row_of(const experiments::Row& r) {
  return {{"quantity", r.quantity},
          {"reported", r.reported},
          {"measured", r.measured},
          {"remark", r.remark}};
}

// One line of JSON a row, written as it comes.
void keep_rows(const std::string& path) {
  if (path.empty()) return;
  auto file = std::make_shared<std::ofstream>(path);
  if (!*file) throw FileError(fmt::format("cannot write '{}'", path));
  experiments::on_row([file, path](const experiments::Row& row) {
    *file << row_of(row).dump() << std::endl;
    if (!*file) throw FileError(fmt::format("cannot write '{}'", path));
  });
}

constexpr const char* small_form =
    "The small form: few rows, starts and iterations; claims are not judged.";

std::string page_of(const experiments::Experiment& e, const experiments::Result& result,
                    const experiments::Settings& settings) {
  Page page("Experiment " + result.name,
            fmt::format("{}. Source: {}. Seed {}.", e.what, result.source, settings.seed));
  HtmlTable table{"What the document reports beside what is measured.",
                  {"quantity", "reported", "measured", "remark"},
                  {},
                  "llll"};
  for (const auto& r : result.rows)
    table.rows.push_back({r.quantity, r.reported, r.measured, r.remark});
  page.section("Results")
      .paragraph(settings.small ? small_form
                 : result.holds ? "Every claim that is checked holds."
                                : "Not every claim that is checked holds: see the remarks.")
      .table(table);
  std::vector<NumberTable> tables;
  for (const auto& s : result.series) tables.push_back({s.name, s.columns, s.values});
  if (!tables.empty()) page.section("Pictures").figures(table_pictures(tables));
  return page.html();
}

Outcome run(const std::string& name, const experiments::LongSettings& settings,
            const std::string& page) {
  check_folder(page);
  std::vector<std::string> names;
  for (const auto& e : experiments::all()) {
    names.push_back(e.name);
    if (e.name != name) continue;
    const auto result = e.run(e.name, settings);
    Outcome out;
    json rows = json::array();
    out.text = fmt::format("{}  ({})\n{:<58} {:>16} {:>26}  {}\n", result.name, result.source,
                           "quantity", "reported", "measured", "remark");
    for (const auto& r : result.rows) {
      rows.push_back(row_of(r));
      out.text +=
          fmt::format("{:<58} {:>16} {:>26}  {}\n", r.quantity, r.reported, r.measured, r.remark);
    }
    out.object = {{"name", result.name},
                  {"source", result.source},
                  {"rows", rows},
                  {"holds", settings.small ? json() : json(result.holds)},
                  {"small", settings.small},
                  {"seed", settings.seed}};
    if (settings.small) out.text += fmt::format("{}\n", small_form);
    if (!page.empty()) {
      write_file(page, page_of(e, result, settings));
      out.object["file"] = page;
      out.text += fmt::format("the page is in {}\n", page);
    }
    out.status = result.holds ? 0 : 1;
    return out;
  }
  throw InputError(fmt::format("no experiment '{}'{}; see covary experiment list", name,
                               did_you_mean(name, names)));
}

void add_options(CLI::App& app, std::vector<std::unique_ptr<Verb>>& verbs) {
  auto* sub = app.add_subcommand("experiment", "Reproduce a published table or figure");
  auto action = std::make_shared<std::string>();
  auto name = std::make_shared<std::string>();
  auto out = std::make_shared<std::string>();
  auto save = std::make_shared<std::string>();
  auto settings = std::make_shared<experiments::LongSettings>();
  auto verb = std::make_unique<Verb>();
  sub->add_option("ACTION", *action, "list, data or run")
      ->required()
      ->check(CLI::IsMember({"list", "data", "run"}));
  sub->add_option("NAME", *name, "The experiment to run, or the data set to tell of");
  sub->add_option("--seed", settings->seed, "Seed")->capture_default_str();
  sub->add_option("--repeats", settings->repeats,
                  "Number of random data sets or splits (0: the experiment's own)")
      ->check(CLI::NonNegativeNumber);
  sub->add_option("--rows", settings->rows, "Largest number of rows, for a quick run (0: all)")
      ->check(CLI::NonNegativeNumber);
  sub->add_flag("--small", settings->small,
                "Its small form: few rows, starts and iterations, generated data where a set is "
                "missing; claims are not judged");
  sub->add_option("--minutes", settings->minutes,
                  "Time limit of an experiment that is one long training (0: the experiment's own)")
      ->check(CLI::NonNegativeNumber);
  sub->add_option("--inducing", settings->inducing,
                  "Number of inducing inputs (0: the experiment's own)")
      ->check(CLI::NonNegativeNumber);
  sub->add_option("--checkpoint", settings->checkpoint,
                  "File that keeps the state of a long experiment");
  sub->add_flag("--resume", settings->resume, "Continue from the checkpoint");
  sub->add_option("--save", *save, "File that keeps each row as soon as it is measured, as JSON");
  sub->add_option("--out", *out, "HTML page to write, with pictures");
  sub->footer("Example:\n  covary experiment run factor-graph --out page.html");
  add_common(*sub, verb->common);
  verb->app = sub;
  verb->run = [=](const Common&) -> Outcome {
    if (*action == "list") return list();
    if (*action == "data") return data_sets(*name);
    if (name->empty()) throw InputError("experiment run needs a NAME; see covary experiment list");
    if (settings->resume && settings->checkpoint.empty())
      throw InputError("--resume goes on from a checkpoint; name it with --checkpoint FILE");
    check_folder(settings->checkpoint);
    check_folder(*save);
    keep_rows(*save);
    return run(*name, *settings, *out);
  };
  verbs.push_back(std::move(verb));
}

}  // namespace
}  // namespace covary::cli

// Its words are those that follow `covary experiment`, which calls it.
int main(int argc, char** argv) {
  std::string verb = "experiment";
  std::vector<char*> words(argv, argv + argc);
  words.insert(words.begin() + std::min(argc, 1), verb.data());
  CLI::App app{"The experiments of Covary", "covary"};
  std::vector<std::unique_ptr<covary::cli::Verb>> verbs;
  covary::cli::add_options(app, verbs);
  return covary::cli::run_program(app, verbs, static_cast<int>(words.size()), words.data());
}
