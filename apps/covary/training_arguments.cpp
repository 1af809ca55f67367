#include "training_arguments.hpp"

#include <fmt/format.h>

#include "covary/data/split.hpp"
#include "covary/error.hpp"
#include "options.hpp"

namespace covary::cli {

void add_training_options(CLI::App& sub, TrainingArguments& a) {
  sub.add_option("TRAIN", a.train, "CSV, TSV, NPY or IDX file, gzip too")
      ->required()
      ->group("Data");
  OptionAdder add(sub, "fit");
  add("target", a.target);
  add("inputs", a.inputs);
  add("lags", a.lags)->check(at_least_one());
  add("likelihood", a.likelihood)->capture_default_str();
  add("mean", a.mean)->capture_default_str();
  add("set", a.set);
  add("fix", a.fix);
  add("prior", a.prior);
  add("bounds", a.bounds);
  add("tie", a.tie);
  add("noise", a.noise);
  add("exposure", a.exposure);
  add("weights", a.weights);
  add("missing", a.missing)
      ->check(CLI::IsMember({"model", "learn", "drop", "error"}))
      ->capture_default_str();
  add("scale", a.scale)
      ->check(CLI::IsMember({"auto", "columns", "global", "none"}))
      ->capture_default_str();
  add("no-scale", a.no_scale);
  add("pca", a.pca)->check(at_least_one());
  add("gplvm", a.gplvm)->check(at_least_one());
  add("jitter", a.jitter)->capture_default_str();
  add("max-iter", a.max_iter)->check(CLI::NonNegativeNumber)->capture_default_str();
  add("max-seconds", a.max_seconds)->check(CLI::NonNegativeNumber);
  add("restarts", a.restarts)->check(CLI::NonNegativeNumber);
  add("folds", a.folds);
  add("seed", a.seed)->capture_default_str();
  add("header", a.header)->check(CLI::IsMember({"auto", "yes", "no"}))->capture_default_str();
  add("verbose", a.verbose);
}

TrainingData TrainingData::rows(const std::vector<Index>& numbers) const {
  TrainingData out = *this;
  out.X = take_rows(X, numbers);
  out.Y = take_rows(Y, numbers);
  for (Vector* column : {&out.noise, &out.aux, &out.weights})
    if (column->size()) *column = Vector((*column)(numbers));
  out.fold_labels.clear();
  for (const Index i : numbers)
    if (!fold_labels.empty()) out.fold_labels.push_back(fold_labels[static_cast<std::size_t>(i)]);
  return out;
}

RegressionOptions regression_options(const TrainingArguments& a, const TrainingData& d,
                                     const std::string& kernel) {
  RegressionOptions options;
  options.kernel = Kernel(kernel);
  options.mean = Mean(a.mean);
  if (a.no_scale || a.scale == "none")
    options.scale_inputs = options.scale_outputs = ScaleMode::none;
  else if (a.scale != "auto")
    options.scale_inputs = options.scale_outputs = parse_scale_mode(a.scale);
  else if (d.file)
    options.scale_inputs = d.file_inputs, options.scale_outputs = d.file_outputs;
  else
    options.scale_inputs = suggest_mode(d.X), options.scale_outputs = suggest_mode(d.Y);
  options.jitter = a.jitter;
  options.training.starts = a.restarts;
  options.seed = a.seed;
  options.training.max_iterations = a.max_iter;
  if (a.max_seconds > 0.0) options.training.max_seconds = a.max_seconds;
  return options;
}

void apply_settings(const TrainingArguments& a, Parameters& p) {
  for (const auto& text : a.bounds) {
    const auto [path, value] = split_assignment(text, "--bounds");
    const auto ends = parse_numbers(value, "--bounds " + path);
    if (ends.size() != 2) throw InputError(fmt::format("--bounds {} takes two numbers a,b", path));
    p.set_bounds(path, ends[0], ends[1]);
  }
  for (const auto& text : a.set) {
    const auto [path, value] = split_assignment(text, "--set");
    const auto numbers = parse_numbers(value, "--set " + path);
    p.set(path, Eigen::Map<const Vector>(numbers.data(), static_cast<Index>(numbers.size())));
  }
  for (const auto& text : a.prior) {
    const auto [path, value] = split_assignment(text, "--prior");
    p.set_prior(path, Prior::parse(value));
  }
  for (const auto& text : a.tie) {
    auto [path, target] = split_assignment(text, "--tie");
    double ratio = 1.0;
    if (const auto star = target.find('*'); star != std::string::npos) {
      ratio = parse_numbers(target.substr(0, star), "--tie " + path).front();
      target = target.substr(star + 1);
    }
    p.tie(path, target, ratio);
  }
  for (const auto& path : split_lists(a.fix)) p.fix(path);
}

}  // namespace covary::cli
