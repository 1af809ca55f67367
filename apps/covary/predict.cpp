#include <fmt/format.h>

#include "covary/data/csv.hpp"
#include "covary/data/table_blocks.hpp"
#include "covary/error.hpp"
#include "csv_sink.hpp"
#include "data_arguments.hpp"

namespace covary::cli {
namespace {

constexpr double normal_975 = 1.959963984540054;  // Φ⁻¹(0.975)
constexpr Index block = 512;                      // rows predicted and written at a time

struct PredictArguments {
  DataArguments data;
  bool components = false, gradients = false;
};

// Columns with their names, in the order of output.
struct Columns {
  std::vector<std::string> names;
  std::vector<Vector> values;
  void add(std::string name, const Vector& v) {
    names.push_back(std::move(name));
    values.push_back(v);
  }
  RowMatrix joined() const {
    RowMatrix out(values.front().size(), static_cast<Index>(values.size()));
    for (std::size_t j = 0; j < values.size(); ++j) out.col(static_cast<Index>(j)) = values[j];
    return out;
  }
};

Columns predict_block(const PredictArguments& a, const SavedModel& m, ConstRows X) {
  Columns out;
  const Prediction p = m.fit.predict(X);
  const Index P = p.mean.cols();
  for (Index k = 0; k < P; ++k) {
    const std::string suffix = output_suffix(m, k);
    const Vector half = normal_975 * p.variance_y.col(k).array().sqrt();
    out.add("mean" + suffix, p.mean.col(k));
    out.add("variance" + suffix, p.variance_y.col(k));
    out.add("variance_f" + suffix, p.variance_f.col(k));
    out.add("lower" + suffix, p.mean.col(k) - half);
    out.add("upper" + suffix, p.mean.col(k) + half);
  }
  if (a.components) {
    const auto parts = m.fit.components(X);
    for (std::size_t i = 0; i < parts.size(); ++i)
      for (Index k = 0; k < P; ++k) {
        out.add(fmt::format("mean_{}{}", i, output_suffix(m, k)), parts[i].mean.col(k));
        out.add(fmt::format("variance_{}{}", i, output_suffix(m, k)), parts[i].variance.col(k));
      }
  }
  if (a.gradients)
    for (Index k = 0; k < P; ++k) {
      const PredictionGradient g = m.fit.gradient(X, k);
      for (Index d = 0; d < X.cols(); ++d) {
        const auto& input = m.fit.input_names[static_cast<std::size_t>(d)];
        out.add(fmt::format("dmean_{}{}", input, output_suffix(m, k)), g.mean.col(d));
        out.add(fmt::format("dvariance_{}{}", input, output_suffix(m, k)), g.variance.col(d));
      }
    }
  return out;
}

std::vector<std::string> component_names(const SavedModel& m) {
  std::vector<std::string> out;
  const auto& p = m.fit.posterior;
  for (const auto& term : p.kernel().terms(p.dims())) out.push_back(term.node->print());
  return out;
}

Outcome run_predict(const PredictArguments& a, const Common& common) {
  const SavedModel m = load_model(a.data.model);
  TableBlocks blocks(a.data.data, table_options(a.data, m));
  const bool in_object = a.data.out.empty() && common.as_json;
  Outcome out;
  std::unique_ptr<CsvSink> sink;
  Index rows = 0;
  while (const auto table = blocks.next()) {
    if (rows == 0)
      for (const auto& note : table->notes) tell(common, note);
    try {
      const RowMatrix X = m.inputs.apply(*table);
      for (Index first = 0; first < X.rows(); first += block) {
        const Index size = std::min(block, X.rows() - first);
        const Columns columns = predict_block(a, m, X.middleRows(first, size));
        if (in_object) {
          for (std::size_t j = 0; j < columns.names.size(); ++j)
            for (const double v : columns.values[j])
              out.object[columns.names[j]].push_back(finite(v));
        } else {
          if (!sink) sink = std::make_unique<CsvSink>(a.data.out);
          sink->write(
              format_csv(rows == 0 ? columns.names : std::vector<std::string>(), columns.joined()));
        }
        rows += size;
      }
    } catch (const InputError& e) {
      const Index first = blocks.first_row();
      throw InputError(first ? fmt::format("{} (rows counted from {})", e.what(), first)
                             : std::string(e.what()));
    }
  }
  if (sink) sink->commit();
  out.object["n"] = rows;
  out.object["file"] = a.data.out.empty() ? json(nullptr) : json(a.data.out);
  if (a.components) {
    const auto names = component_names(m);
    out.object["components"] = names;
    for (std::size_t i = 0; i < names.size(); ++i)
      tell(common, fmt::format("component {}: {}", i, names[i]));
  }
  if (!a.data.out.empty())
    out.text = fmt::format("{} predictions written to {}\n", rows, a.data.out);
  return out;
}

}  // namespace

void add_predict(CLI::App& app, std::vector<std::unique_ptr<Verb>>& verbs) {
  auto* sub = app.add_subcommand("predict", "Predict at the rows of a table");
  auto a = std::make_shared<PredictArguments>();
  auto verb = std::make_unique<Verb>();
  add_data_options(*sub, a->data, "Table with the model's input columns");
  sub->add_flag("--components", a->components, "Also mean_<i>, variance_<i> of each kernel term");
  sub->add_flag("--gradients", a->gradients, "Also dmean_<input>, dvariance_<input>, of f");
  sub->add_option("--out", a->data.out, "CSV to write (default: standard output)");
  sub->footer("Example:\n  covary predict model.cov new.csv --out predictions.csv");
  add_common(*sub, verb->common);
  verb->app = sub;
  verb->run = [a](const Common& common) { return run_predict(*a, common); };
  verbs.push_back(std::move(verb));
}

}  // namespace covary::cli
