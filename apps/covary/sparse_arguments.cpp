#include "sparse_arguments.hpp"

#include <fmt/format.h>

#include <charconv>

#include "cost.hpp"
#include "covary/error.hpp"
#include "covary/statistics/rows.hpp"
#include "options.hpp"

namespace covary::cli {
namespace {

Route parse_route(const std::string& name) {
  if (name == "auto") return Route::automatic;
  if (name == "fast") return Route::fast;
  return name == "safe" ? Route::safe : Route::stable;
}

}  // namespace

Index inducing_of(const SparseArguments& a) {
  const std::string& text = a.inducing;
  if (text == "auto") return 0;
  Index M = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), M);
  if (error != std::errc() || end != text.data() + text.size() || M < 1)
    throw InputError(
        fmt::format("--inducing takes a number of at least 1, or auto; got '{}'", text));
  return M;
}

void add_sparse_options(CLI::App& sub, SparseArguments& a) {
  OptionAdder add(sub, "fit");
  add("inducing", a.inducing)->capture_default_str();
  add("inducing-file", a.inducing_file);
  add("selection", a.selection)
      ->check(CLI::IsMember({"greedy_variance", "kmeans", "hierarchical_kmeans", "random", "grid",
                             "informative_vectors"}))
      ->capture_default_str();
  add("features", a.features)->capture_default_str();
  add("route", a.route)
      ->check(CLI::IsMember({"auto", "fast", "safe", "stable"}))
      ->capture_default_str();
  add("warm-start", a.warm_start);
  add("groups", a.groups)->check(CLI::NonNegativeNumber);
  add("covariance", a.covariance)->capture_default_str();
  add("batch", a.batch)->check(CLI::NonNegativeNumber);
  add("epochs", a.epochs)->check(CLI::NonNegativeNumber);
  add("steps", a.steps)->check(at_least_one());
  add("learning-rate", a.learning_rate)->check(CLI::PositiveNumber);
  add("schedule", a.schedule)->check(CLI::IsMember({"constant", "exponential", "steps", "cosine"}));
  add("natural-step", a.natural_step)->check(CLI::PositiveNumber);
  add("separate-kernels", a.separate_kernels)
      ->check(CLI::IsMember({"auto", "yes", "no"}))
      ->capture_default_str();
}

void set_minibatches(const SparseArguments& a, TrainingOptions& training) {
  training.batch = a.batch;
  training.epochs = a.epochs;
  training.steps = a.steps;
  if (a.learning_rate > 0.0) training.learning_rate.rate = a.learning_rate;
  if (!a.schedule.empty()) training.learning_rate.schedule = parse_schedule(a.schedule);
  if (a.natural_step > 0.0) training.natural_step = a.natural_step;
}

ProblemSize size_of(const TrainingData& d, const SparseArguments& a) {
  ProblemSize size;
  size.rows = static_cast<double>(d.count());
  size.inputs = static_cast<double>(d.file ? d.file->dims() : d.X.cols());
  size.outputs = static_cast<double>(d.file ? d.file->outputs() : d.Y.cols());
  if (d.file)
    size.patterns.assign(columns_by_pattern(*d.file).size(), size.rows);
  else
    size.patterns = patterns_of(d.Y);
  size.inducing = static_cast<double>(inducing_of(a));
  size.batch = static_cast<double>(a.batch);
  if (d.likelihood) size.functions = static_cast<double>(d.likelihood->latents());
  size.stream = d.file != nullptr;
  return size;
}

std::optional<Approximation> approximation_of(const SparseArguments& a) {
  if (a.model == "exact") return {};
  return Approximation(a.model);
}

SparseRegressionOptions sparse_options(const SparseArguments& a, const Approximation& approximation,
                                       const RegressionOptions& options, const InputColumns& inputs,
                                       bool given) {
  SparseRegressionOptions out;
  out.kernel = options.kernel;
  out.mean = options.mean;
  out.approximation = approximation;
  out.inducing = inducing_of(a);
  out.selection = parse_selection(a.selection);
  out.features = a.features;
  out.route = parse_route(a.route);
  out.groups = a.groups;
  if (!a.warm_start.empty()) out.warm_start = Approximation(a.warm_start);
  if (!a.inducing_file.empty()) out.Z = inputs.apply(read_table(a.inducing_file));
  out.scale_inputs = options.scale_inputs;
  out.scale_outputs = options.scale_outputs;
  out.jitter = options.jitter;
  out.seed = options.seed;
  out.training = options.training;
  if (given) out.subset = 0;
  return out;
}

RegressionFit fit_rows(const TrainingArguments& t, const SparseArguments& a, const TrainingData& d,
                       const std::string& kernel) {
  RegressionOptions options = regression_options(t, d, kernel);
  options.standard_errors = Switch::off;
  if (const auto approximation = approximation_of(a)) {
    SparseRegression model(
        d.X, d.Y, sparse_options(a, *approximation, options, d.inputs, t.max_iter == 0), d.noise);
    apply_settings(t, model.parameters());
    return model.fit();
  }
  Regression model(d.X, d.Y, options, d.noise);
  apply_settings(t, model.parameters());
  return model.fit();
}

}  // namespace covary::cli
