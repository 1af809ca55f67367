#include <fmt/format.h>

#include <filesystem>

#include "common.hpp"
#include "covary/data/csv.hpp"
#include "covary/data/generators.hpp"
#include "covary/error.hpp"

namespace covary::cli {
namespace {

void write_set(const std::string& path, const SyntheticData& d, Index first, Index n) {
  RowMatrix values(n, d.X.cols() + 1);
  values.leftCols(d.X.cols()) = d.X.middleRows(first, n);
  values.rightCols(1) = d.y.segment(first, n);
  auto names = d.inputs;
  names.emplace_back("y");
  write_csv(path, names, values);
}

Outcome run_example(const std::string& name, const std::string& folder) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error)
    throw FileError(fmt::format("cannot make the folder '{}': {}", folder, error.message()));
  const Index n = name == "curve" ? 200 : 300;
  const SyntheticData d =
      name == "curve" ? snelson_like_data(n + 500, 1) : friedman_data(n + 500, 1);
  write_set(folder + "/train.csv", d, 0, n);
  write_set(folder + "/test.csv", d, n, 500);
  Outcome out{{{"name", name}, {"folder", folder}, {"train", n}, {"test", 500}},
              fmt::format("{} rows in {}/train.csv, 500 in {}/test.csv\n", n, folder, folder),
              0};
  if (name == "curve") {  // a grid beyond the data, to draw the band
    const Vector x = Vector::LinSpaced(301, -2.0, 8.0);
    write_csv(folder + "/grid.csv", d.inputs, x);
  }
  return out;
}

}  // namespace

void add_example(CLI::App& app, std::vector<std::unique_ptr<Verb>>& verbs) {
  auto* sub = app.add_subcommand("example", "Write an embedded example data set");
  auto name = std::make_shared<std::string>();
  auto folder = std::make_shared<std::string>();
  auto verb = std::make_unique<Verb>();
  sub->add_option("NAME", *name,
                  "curve (1-D with a gap) or friedman (10 inputs, 5 of them relevant)")
      ->required()
      ->check(CLI::IsMember({"curve", "friedman"}));
  sub->add_option("FOLDER", *folder, "Where train.csv and test.csv go")->required();
  sub->footer(
      "Example:\n  covary example curve example\n  covary fit example/train.csv --target y");
  add_common(*sub, verb->common);
  verb->app = sub;
  verb->run = [=](const Common&) { return run_example(*name, *folder); };
  verbs.push_back(std::move(verb));
}

}  // namespace covary::cli
