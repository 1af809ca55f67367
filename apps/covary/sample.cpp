#include <fmt/format.h>

#include "cost.hpp"
#include "covary/error.hpp"
#include "data_arguments.hpp"

namespace covary::cli {
namespace {

Outcome run_sample(const DataArguments& a, Index draws, std::uint64_t seed, const Common& common) {
  if (draws < 1) throw InputError(fmt::format("-n must be at least 1, got {}", draws));
  check_folder(a.out);
  const SavedModel m = load_model(a.model);
  const RowMatrix X = m.inputs.apply(read_table(a.data, table_options(a, m.inputs)));
  const double n = static_cast<double>(X.rows());
  // The covariance of the rows and its factor.
  require_memory(16.0 * n * n, X.rows(), fmt::format("a joint draw at {} rows", X.rows()));
  const auto f = m.fit.sample(X, draws, seed);
  const Index P = f.front().cols();
  RowMatrix values(X.rows(), draws * P);
  std::vector<std::string> names;
  for (Index s = 0; s < draws; ++s)
    for (Index k = 0; k < P; ++k) {
      names.push_back(fmt::format("draw_{}{}", s, output_suffix(m, k)));
      values.col(s * P + k) = f[static_cast<std::size_t>(s)].col(k);
    }
  Outcome out = give_table(a, names, values, "rows of draws", common);
  out.object["draws"] = draws;
  out.object["seed"] = seed;
  return out;
}

}  // namespace

void add_sample(CLI::App& app, std::vector<std::unique_ptr<Verb>>& verbs) {
  auto* sub = app.add_subcommand("sample", "Joint draws of the function at the rows of a table");
  auto a = std::make_shared<DataArguments>();
  auto draws = std::make_shared<Index>(100);
  auto seed = std::make_shared<std::uint64_t>(0);
  auto verb = std::make_unique<Verb>();
  add_data_options(*sub, *a, "Table with the model's input columns");
  sub->add_option("-n,--draws", *draws, "Number of draws")->capture_default_str();
  sub->add_option("--seed", *seed, "Seed of the draws")->capture_default_str();
  sub->add_option("--out", a->out, "CSV to write (default: standard output)");
  sub->footer("Example:\n  covary sample model.cov new.csv -n 10 --out draws.csv");
  add_common(*sub, verb->common);
  verb->app = sub;
  verb->run = [=](const Common& common) { return run_sample(*a, *draws, *seed, common); };
  verbs.push_back(std::move(verb));
}

}  // namespace covary::cli
