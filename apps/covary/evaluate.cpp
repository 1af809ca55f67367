#include <fmt/format.h>

#include <cmath>

#include "covary/data/columns.hpp"
#include "covary/data/metrics.hpp"
#include "covary/error.hpp"
#include "data_arguments.hpp"
#include "generalised.hpp"
#include "latent.hpp"
#include "map_gplvm.hpp"
#include "model_choice.hpp"
#include "options.hpp"
#include "ppca.hpp"
#include "series.hpp"

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

std::string line(const char* name, const json& value) {
  return fmt::format("{:<11} {}\n", name,
                     value.is_null() ? "not defined" : fmt::format("{:.6g}", value.get<double>()));
}

std::string in_words(const json& scores, const std::vector<std::string>& classes) {
  std::string out;
  for (const char* name : {"accuracy", "rmse", "mae", "smse", "nlpd", "auc", "brier", "ece"})
    if (scores.contains(name)) out += line(name, scores[name]);
  if (classes.empty()) return out;
  out += "confusion (rows: label, columns: decision)\n";
  for (std::size_t k = 0; k < classes.size(); ++k)
    out += fmt::format("  {:<10} {}\n", classes[k],
                       fmt::join(scores["confusion"][k].get<std::vector<double>>(), " "));
  return out;
}

Outcome evaluate(const SavedGeneralised& m, const DataArguments& a) {
  const Table table = read_table(a.data, table_options(a, m.inputs));
  const Index target = select_columns(table, {m.fit.output_name}).front();
  const Vector y = m.fit.classes.empty() ? Vector(numeric_columns(table, {target}).col(0))
                                         : Labels{m.fit.classes}.encode(table, target);
  Outcome out;
  out.object =
      generalised_scores(m.fit, m.inputs.apply(table), y, exposure_of(a, table), a.threshold);
  out.object["n"] = y.size();
  out.text = in_words(out.object, m.fit.classes);
  return out;
}

Outcome evaluate(const SavedClassDensity& m, const DataArguments& a) {
  const Table table = read_table(a.data, table_options(a, m.inputs));
  const Vector y =
      Labels{m.fit.classes}.encode(table, select_columns(table, {m.fit.output_name}).front());
  Outcome out;
  out.object =
      class_scores(RowMatrix(m.fit.predict(m.inputs.apply(table))), y, m.fit.classes, a.threshold);
  out.object["n"] = y.size();
  out.text = in_words(out.object, m.fit.classes);
  return out;
}

Outcome evaluate(const SavedModel& m, const DataArguments& a) {
  const Table table = read_table(a.data, table_options(a, m.inputs));
  const auto [X, Y] = scored_rows(m, table);
  const Prediction p = m.fit.predict(X);
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
    out.text += line(name, out.object[name]);
  }
  if (Y.cols() > 1) out.object["outputs"] = each;
  return out;
}

Outcome evaluate(const SavedLatent& m, const DataArguments& a) { return evaluate_latent(m, a); }
Outcome evaluate(const SavedPpca& m, const DataArguments& a) { return evaluate_ppca(m, a); }
Outcome evaluate(const SavedMapGplvm& m, const DataArguments& a) {
  return evaluate_map_gplvm(m, a);
}

Outcome run_evaluate(const DataArguments& a, const Common&) {
  if (!(a.threshold > 0.0 && a.threshold < 1.0))
    throw InputError(fmt::format("--threshold must lie between 0 and 1, got {}", a.threshold));
  const AnyModel model = load_any_model(a.model);
  check_options("evaluate", a.given, model);
  return std::visit([&](const auto& m) { return evaluate(m, a); }, model);
}

}  // namespace

void add_evaluate(CLI::App& app, std::vector<std::unique_ptr<Verb>>& verbs) {
  auto* sub = app.add_subcommand("evaluate", "Score predictions against a table with outputs");
  auto a = std::make_shared<DataArguments>();
  auto verb = std::make_unique<Verb>();
  add_data_options(*sub, *a, "evaluate", "Table with the model's input and output columns");
  OptionAdder add(*sub, "evaluate");
  add("exposure", a->exposure);
  add("threshold", a->threshold)->capture_default_str();
  sub->footer("Example:\n  covary evaluate model.cov test.csv --json");
  add_common(*sub, verb->common);
  verb->app = sub;
  verb->run = [a, sub](const Common& common) {
    a->given = given_options(*sub);
    return run_evaluate(*a, common);
  };
  verbs.push_back(std::move(verb));
}

}  // namespace covary::cli
