#include <fmt/format.h>

#include <algorithm>

#include "covary/data/classification_metrics.hpp"
#include "covary/data/columns.hpp"
#include "covary/data/csv.hpp"
#include "covary/data/decisions.hpp"
#include "covary/data/table_blocks.hpp"
#include "covary/error.hpp"
#include "covary/models/parameter_draws.hpp"
#include "csv_sink.hpp"
#include "data_arguments.hpp"
#include "latent.hpp"
#include "model_choice.hpp"
#include "options.hpp"
#include "ppca.hpp"
#include "series.hpp"

namespace covary::cli {
namespace {

constexpr Index block = 512;  // rows predicted and written at a time

struct PredictArguments {
  DataArguments data;
  StepArguments ahead;
  std::vector<std::string> input_variance;
  bool components = false, gradients = false;
  Index correspond = 0;  // neighbours of each row; 0: a prediction
  Index parameter_draws = 0;
  ParameterDraws drawn = {};  // so many, once the model is there
};

// What comes with the inputs of a block of rows; both may be empty.
struct Beside {
  Vector exposure;
  RowMatrix variance;  // of the inputs

  Beside rows(Index first, Index n) const {
    return {exposure.size() ? Vector(exposure.segment(first, n)) : exposure,
            variance.size() ? RowMatrix(variance.middleRows(first, n)) : variance};
  }
};

// Columns with their names, in the order of output.
struct Columns {
  std::vector<std::string> names;
  std::vector<Vector> values;
  std::vector<std::string> classes;  // a cell a row, or none
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

Columns predict_block(const PredictArguments& a, const SavedModel& m, ConstRows X,
                      const Beside& beside) {
  Columns out;
  const Prediction p = a.parameter_draws > 0    ? predict(m.fit, a.drawn, X)
                       : beside.variance.size() ? m.fit.predict(X, beside.variance)
                                                : m.fit.predict(X);
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
  if (!a.data.loss.empty())
    for (Index k = 0; k < P; ++k) {
      const Decisions d = decide(Loss(a.data.loss), p.mean.col(k), p.variance_y.col(k));
      out.add("decision" + output_suffix(m, k), d.decided);
      out.add("expected_loss" + output_suffix(m, k), d.expected_loss);
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

// The class of each row: by the costs of --loss, if there are any, else by --threshold.
Vector decide_labels(const DataArguments& a, const RowMatrix& probabilities,
                     const std::vector<std::string>& classes, Columns& out) {
  if (a.loss.empty()) return decided_classes(probabilities, a.threshold);
  Decisions d = decide_classes(probabilities, read_costs(read_table(a.loss), classes));
  out.add("expected_loss", d.expected_loss);
  return d.decided;
}

std::string class_name(const GeneralisedFit& fit, Index label) {
  return fit.classes.empty() ? fmt::format("{}", label)
                             : fit.classes[static_cast<std::size_t>(label)];
}

// class, p_<class> for classes; else mean and variance of y. Then the latent functions.
Columns predict_block(const PredictArguments& a, const SavedGeneralised& m, ConstRows X,
                      const Beside& beside) {
  const GeneralisedPrediction p = m.fit.predict(X, beside.exposure);
  Columns out;
  if (p.probabilities.size()) {
    std::vector<std::string> names;
    for (Index k = 0; k < p.probabilities.cols(); ++k) names.push_back(class_name(m.fit, k));
    const Vector decided = decide_labels(a.data, RowMatrix(p.probabilities), names, out);
    for (const double label : decided)
      out.classes.push_back(class_name(m.fit, static_cast<Index>(label)));
    for (Index k = 0; k < p.probabilities.cols(); ++k)
      out.add("p_" + class_name(m.fit, k), p.probabilities.col(k));
  } else {
    out.add("mean", p.mean);
    out.add("variance", p.variance);
    if (!a.data.loss.empty()) {
      const Loss loss(a.data.loss);
      if (loss.kind != Loss::Kind::squared)
        throw Unsupported(
            fmt::format("--loss {} is for Gaussian regression; with the likelihood "
                        "'{}' use squared",
                        a.data.loss, m.fit.likelihood.print()));
      const Decisions d = decide(loss, p.mean, p.variance);
      out.add("decision", d.decided);
      out.add("expected_loss", d.expected_loss);
    }
  }
  for (Index l = 0; l < p.f.mean.cols(); ++l) {
    const std::string suffix = p.f.mean.cols() == 1 ? "" : fmt::format("_{}", l);
    out.add("mean_f" + suffix, p.f.mean.col(l));
    out.add("variance_f" + suffix, p.f.variance.col(l));
  }
  return out;
}

// class, p_<class>, then log p(x, class).
Columns predict_block(const PredictArguments& a, const SavedClassDensity& m, ConstRows X,
                      const Beside&) {
  const Matrix joint = m.fit.log_joint(X), p = m.fit.predict_from(joint);
  Columns out;
  for (const double label : decide_labels(a.data, RowMatrix(p), m.fit.classes, out))
    out.classes.push_back(m.fit.classes[static_cast<std::size_t>(label)]);
  for (const auto& [what, values] : {std::pair{"p_", &p}, {"log_joint_", &joint}})
    for (Index k = 0; k < p.cols(); ++k)
      out.add(what + m.fit.classes[static_cast<std::size_t>(k)], values->col(k));
  return out;
}

std::vector<std::string> component_names(const SavedModel& m) {
  std::vector<std::string> out;
  const auto& p = m.fit.posterior;
  for (const auto& term : p.kernel().terms(p.dims())) out.push_back(term.node->print());
  return out;
}

void tell_components(const PredictArguments& a, const SavedModel& m, const Common& common,
                     Outcome& out) {
  if (!a.components) return;
  const auto names = component_names(m);
  out.object["components"] = names;
  for (std::size_t i = 0; i < names.size(); ++i)
    tell(common, fmt::format("component {}: {}", i, names[i]));
}

// The columns that --input-variance names, one for each input.
RowMatrix input_variance(const PredictArguments& a, const InputColumns& inputs,
                         const Table& table) {
  if (a.input_variance.empty()) return {};
  RowMatrix out = numeric_columns(table, select_columns(table, split_lists(a.input_variance)));
  const auto names = inputs.names();
  if (out.cols() != static_cast<Index>(names.size()))
    throw InputError(fmt::format("--input-variance names {} columns; the model has {} inputs ({})",
                                 out.cols(), names.size(), fmt::join(names, ", ")));
  return out;
}

void check_input_variance(const PredictArguments& a) {
  if (!a.input_variance.empty() && (a.components || a.gradients))
    throw Unsupported("--components and --gradients are not available with --input-variance");
}

template <class Saved>
Outcome run_with(const Saved& m, const PredictArguments& a, const Common& common) {
  check_input_variance(a);
  TableBlocks blocks(a.data.data, table_options(a.data, m.inputs));
  const bool in_object = a.data.out.empty() && common.as_json;
  Outcome out;
  std::unique_ptr<CsvSink> sink;
  Index rows = 0;
  while (const auto table = blocks.next()) {
    if (rows == 0)
      for (const auto& note : table->notes) tell(common, note);
    try {
      const RowMatrix X = m.inputs.apply(*table);
      const Beside beside{exposure_of(a.data, *table), input_variance(a, m.inputs, *table)};
      for (Index first = 0; first < X.rows(); first += block) {
        const Index size = std::min(block, X.rows() - first);
        const Columns columns =
            predict_block(a, m, X.middleRows(first, size), beside.rows(first, size));
        if (in_object) {
          for (const auto& label : columns.classes) out.object["class"].push_back(label);
          for (std::size_t j = 0; j < columns.names.size(); ++j)
            for (const double v : columns.values[j])
              out.object[columns.names[j]].push_back(finite(v));
        } else {
          if (!sink) sink = std::make_unique<CsvSink>(a.data.out);
          std::vector<std::string> names;
          if (rows == 0) names = columns.names;
          if (rows == 0 && !columns.classes.empty()) names.insert(names.begin(), "class");
          sink->write(format_csv(names, columns.joined(), columns.classes));
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
  if constexpr (std::is_same_v<Saved, SavedModel>) tell_components(a, m, common, out);
  if (!a.data.out.empty())
    out.text = fmt::format("{} predictions written to {}\n", rows, a.data.out);
  return out;
}

Outcome run_with(const SavedLatent& m, const PredictArguments& a, const Common& common) {
  if (a.correspond > 0) return predict_correspondences(m, a.data, a.correspond, common);
  return predict_latent(m, a.data, common);
}
Outcome run_with(const SavedMapGplvm& m, const PredictArguments& a, const Common& common) {
  return predict_latent(m, a.data, common);
}
Outcome run_with(const SavedPpca& m, const PredictArguments& a, const Common& common) {
  return predict_ppca(m, a.data, common);
}

// With the parameters drawn, if that is asked for.
PredictArguments with_draws(PredictArguments a, const AnyModel& model, const Common& common) {
  if (a.parameter_draws == 0) return a;
  const auto* m = std::get_if<SavedModel>(&model);
  if (a.components || a.gradients || !a.input_variance.empty())
    throw Unsupported(
        "--components, --gradients and --input-variance are not available with --parameter-draws");
  if (a.ahead.steps > 0 && a.ahead.propagation != "draws")
    throw InputError(fmt::format(
        "--parameter-draws with --steps needs --propagation draws, got '{}'", a.ahead.propagation));
  ParameterDrawOptions options;
  options.draws = a.parameter_draws;
  options.seed = a.ahead.draws.seed;
  a.drawn = sample_parameters(m->fit, options);
  tell(common,
       fmt::format("{} draws of the parameters, {} evaluations, R-hat {:.3f}{}", options.draws,
                   a.drawn.evaluations, a.drawn.r_hat,
                   a.drawn.r_hat > 1.1 ? ": the chains do not agree; take more draws" : ""));
  a.ahead.draws.parameters = a.drawn.values;
  return a;
}

Outcome run_predict(const PredictArguments& given, const Common& common) {
  const double threshold = given.data.threshold;
  if (!(threshold > 0.0 && threshold < 1.0))
    throw InputError(fmt::format("--threshold must lie between 0 and 1, got {}", threshold));
  for (const auto& option : given.data.given)
    if (given.ahead.steps == 0 && (option == "propagation" || option == "draws"))
      throw InputError(fmt::format("--{} needs --steps", option));
    else if (option == "seed" && given.ahead.propagation != "draws" && given.parameter_draws == 0)
      throw InputError("--seed needs --propagation draws or --parameter-draws");
  const auto is_given = [&](const char* option) {
    return std::find(given.data.given.begin(), given.data.given.end(), option) !=
           given.data.given.end();
  };
  if (is_given("loss") && is_given("threshold"))
    throw InputError("give either --loss or --threshold: both decide the class");
  if (is_given("loss") && given.ahead.steps > 0)
    throw Unsupported("--loss is not available with --steps");
  const AnyModel model = load_any_model(given.data.model);
  check_options("predict", given.data.given, model);
  const PredictArguments a = with_draws(given, model, common);
  if (a.ahead.steps == 0)
    return std::visit([&](const auto& m) { return run_with(m, a, common); }, model);
  const auto* m = std::get_if<SavedModel>(&model);
  if (a.components || a.gradients || !a.input_variance.empty())
    throw Unsupported(
        "--components, --gradients and --input-variance are not available with --steps");
  return predict_steps(*m, a.data, a.ahead, common);
}

}  // namespace

void add_predict(CLI::App& app, std::vector<std::unique_ptr<Verb>>& verbs) {
  auto* sub = app.add_subcommand("predict", "Predict at the rows of a table");
  auto a = std::make_shared<PredictArguments>();
  auto verb = std::make_unique<Verb>();
  add_data_options(*sub, a->data, "predict", "Table with the model's input columns");
  OptionAdder add(*sub, "predict");
  add("input-variance", a->input_variance);
  add("exposure", a->data.exposure);
  add_step_options(*sub, a->ahead);
  add("parameter-draws", a->parameter_draws)->check(at_least_one());
  add("correspond", a->correspond)->check(at_least_one());
  add("threshold", a->data.threshold)->capture_default_str();
  add("loss", a->data.loss);
  add("components", a->components);
  add("gradients", a->gradients);
  add("out", a->data.out);
  sub->footer("Example:\n  covary predict model.cov new.csv --out predictions.csv");
  add_common(*sub, verb->common);
  verb->app = sub;
  verb->run = [a, sub](const Common& common) {
    a->data.given = given_options(*sub);
    return run_predict(*a, common);
  };
  verbs.push_back(std::move(verb));
}

}  // namespace covary::cli
