#include <fmt/format.h>

#include <cmath>

#include "common.hpp"
#include "covary/data/columns.hpp"
#include "covary/data/csv.hpp"
#include "covary/data/metrics.hpp"
#include "covary/error.hpp"
#include "covary/storage/model_file.hpp"

namespace covary::cli {
namespace {

constexpr double normal_975 = 1.959963984540054;  // Φ⁻¹(0.975)

struct DataArguments {
  std::string model, data, out, header = "auto";
};

void add_data_options(CLI::App& sub, DataArguments& a) {
  sub.add_option("FILE", a.model, "Model file")->required();
  sub.add_option("DATA", a.data, "Table with the model's input columns")->required();
  sub.add_option("--header", a.header, "auto, yes or no")
      ->check(CLI::IsMember({"auto", "yes", "no"}))
      ->capture_default_str();
}

// mean, variance, variance_f, lower, upper for each output; names carry the output when there are
// several.
std::pair<std::vector<std::string>, RowMatrix> prediction_columns(const SavedModel& m,
                                                                  const Prediction& p) {
  const Index P = p.mean.cols();
  std::vector<std::string> names;
  RowMatrix out(p.mean.rows(), 5 * P);
  for (Index k = 0; k < P; ++k) {
    const std::string suffix = P == 1 ? "" : "_" + m.fit.output_names[static_cast<std::size_t>(k)];
    for (const char* name : {"mean", "variance", "variance_f", "lower", "upper"})
      names.push_back(name + suffix);
    const Eigen::ArrayXd half = normal_975 * p.variance_y.col(k).array().sqrt();
    out.col(5 * k) = p.mean.col(k);
    out.col(5 * k + 1) = p.variance_y.col(k);
    out.col(5 * k + 2) = p.variance_f.col(k);
    out.col(5 * k + 3) = p.mean.col(k).array() - half;
    out.col(5 * k + 4) = p.mean.col(k).array() + half;
  }
  return {names, out};
}

Outcome run_predict(const DataArguments& a, const Common& common) {
  const SavedModel m = load_model(a.model);
  const Table table = read_table(a.data, {parse_header(a.header)});
  const auto [names, values] = prediction_columns(m, m.fit.predict(m.inputs.apply(table)));
  Outcome out;
  if (!a.out.empty()) write_csv(a.out, names, values);
  out.object = {{"n", values.rows()}, {"file", a.out.empty() ? json(nullptr) : json(a.out)}};
  if (a.out.empty() && common.as_json)
    for (std::size_t j = 0; j < names.size(); ++j)
      out.object[names[j]] = finite(Vector(values.col(static_cast<Index>(j))));
  if (a.out.empty() && !common.as_json) {
    out.text = fmt::format("{}\n", fmt::join(names, ","));
    for (Index i = 0; i < values.rows(); ++i) {
      for (Index j = 0; j < values.cols(); ++j)
        out.text += (j ? "," : "") + fmt::format("{}", values(i, j));
      out.text += '\n';
    }
  } else if (!a.out.empty()) {
    out.text = fmt::format("{} predictions written to {}\n", values.rows(), a.out);
  }
  return out;
}

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
  const Table table = read_table(a.data, {parse_header(a.header)});
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

void add_predict(CLI::App& app, std::vector<std::unique_ptr<Verb>>& verbs) {
  auto* sub = app.add_subcommand("predict", "Predict at the rows of a table");
  auto a = std::make_shared<DataArguments>();
  auto verb = std::make_unique<Verb>();
  add_data_options(*sub, *a);
  sub->add_option("--out", a->out, "CSV to write (default: standard output)");
  sub->footer("Example:\n  covary predict model.cov new.csv --out predictions.csv");
  add_common(*sub, verb->common);
  verb->app = sub;
  verb->run = [a](const Common& common) { return run_predict(*a, common); };
  verbs.push_back(std::move(verb));
}

void add_evaluate(CLI::App& app, std::vector<std::unique_ptr<Verb>>& verbs) {
  auto* sub = app.add_subcommand("evaluate", "Score predictions against a table with outputs");
  auto a = std::make_shared<DataArguments>();
  auto verb = std::make_unique<Verb>();
  add_data_options(*sub, *a);
  sub->footer("Example:\n  covary evaluate model.cov test.csv --json");
  add_common(*sub, verb->common);
  verb->app = sub;
  verb->run = [a](const Common& common) { return run_evaluate(*a, common); };
  verbs.push_back(std::move(verb));
}

}  // namespace covary::cli
