#include <fmt/format.h>

#include <cmath>

#include "covary/data/columns.hpp"
#include "covary/data/metrics.hpp"
#include "data_arguments.hpp"

namespace covary::cli {
namespace {

json scores(const Vector& y, const Vector& mean, const Vector& variance) {
  json out{{"rmse", finite(rmse(y, mean))},
           {"mae", finite(mae(y, mean))},
           {"smse", finite(smse(y, mean))}};
  out["nlpd"] = finite(nlpd(y, mean, variance));
  out["crps"] = finite(crps(y, mean, variance));
  out["coverage95"] = finite(coverage(y, mean, variance, 0.95));
  return out;
}

Outcome run_evaluate(const DataArguments& a, const Common&) {
  const SavedModel m = load_model(a.model);
  const Table table = read_table(a.data, table_options(a, m));
  const RowMatrix Y = numeric_columns(table, select_columns(table, m.fit.output_names));
  const Prediction p = m.fit.predict(m.inputs.apply(table));
  const char* order[] = {"rmse", "mae", "smse", "nlpd", "crps", "coverage95"};
  Outcome out;
  out.object = {{"n", Y.rows()}};
  json each = json::object();
  for (Index k = 0; k < Y.cols(); ++k)
    each[m.fit.output_names[static_cast<std::size_t>(k)]] =
        scores(Y.col(k), p.mean.col(k), p.variance_y.col(k));
  for (const char* name : order) {  // the mean over outputs
    double sum = 0.0;
    for (const auto& [output, s] : each.items())
      sum += s[name].is_null() ? std::nan("") : s[name].get<double>();
    out.object[name] = finite(sum / static_cast<double>(Y.cols()));
    out.text += fmt::format("{:<11} {}\n", name,
                            out.object[name].is_null()
                                ? "not defined"
                                : fmt::format("{:.6g}", out.object[name].get<double>()));
  }
  if (Y.cols() > 1) out.object["outputs"] = each;
  return out;
}

}  // namespace

void add_evaluate(CLI::App& app, std::vector<std::unique_ptr<Verb>>& verbs) {
  auto* sub = app.add_subcommand("evaluate", "Score predictions against a table with outputs");
  auto a = std::make_shared<DataArguments>();
  auto verb = std::make_unique<Verb>();
  add_data_options(*sub, *a, "Table with the model's input and output columns");
  sub->footer("Example:\n  covary evaluate model.cov test.csv --json");
  add_common(*sub, verb->common);
  verb->app = sub;
  verb->run = [a](const Common& common) { return run_evaluate(*a, common); };
  verbs.push_back(std::move(verb));
}

}  // namespace covary::cli
