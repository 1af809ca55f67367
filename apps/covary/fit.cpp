#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>

#include "common.hpp"
#include "covary/data/columns.hpp"
#include "covary/data/split.hpp"
#include "covary/error.hpp"
#include "covary/storage/model_file.hpp"
#include "describe.hpp"

namespace covary::cli {
namespace {

struct FitArguments {
  std::string train, model = "exact", kernel = "se(ard)", likelihood = "gaussian", mean = "zero";
  std::string noise, missing = "model", scale = "auto", out, header = "auto",
                     standard_errors = "auto";
  std::vector<std::string> target, inputs, set, fix, prior, bounds, tie;
  bool no_scale = false;
  double jitter = 0.0, max_seconds = 0.0;
  Index max_iter = 1000, restarts = 0;
  std::uint64_t seed = 0;
};

// The rows and columns of the training file that the model sees.
struct TrainingData {
  RowMatrix X, Y;
  Vector noise;
  InputColumns inputs;
  std::vector<std::string> output_names;
};

TrainingData read_training(const FitArguments& a, const Common& common) {
  const Table table = read_table(a.train, {parse_header(a.header)});
  for (const auto& note : table.notes) tell(common, note);
  const auto targets = select_columns(table, split_lists(a.target));
  std::vector<Index> taken = targets, noise;
  if (!a.noise.empty()) noise = select_columns(table, {a.noise});
  taken.insert(taken.end(), noise.begin(), noise.end());
  std::vector<Index> inputs;
  if (a.inputs.empty()) {
    for (Index j = 0; j < table.cols(); ++j)
      if (!std::count(taken.begin(), taken.end(), j)) inputs.push_back(j);
  } else {
    inputs = select_columns(table, split_lists(a.inputs));
    for (const Index j : inputs)
      if (std::count(taken.begin(), taken.end(), j))
        throw InputError(fmt::format("column '{}' cannot be an input as well",
                                     table.names[static_cast<std::size_t>(j)]));
  }
  if (inputs.empty()) throw InputError("no input columns are left; a fit needs at least one");

  TrainingData d;
  std::vector<std::string> notes;
  d.inputs = InputColumns::from(table, inputs, &notes);
  for (const auto& note : notes) tell(common, note);
  d.X = d.inputs.apply(table);
  d.Y = numeric_columns(table, targets);
  if (!noise.empty()) d.noise = numeric_columns(table, noise).col(0);
  for (const Index j : targets) d.output_names.push_back(table.names[static_cast<std::size_t>(j)]);

  std::vector<Index> keep;
  for (Index i = 0; i < d.X.rows(); ++i) {
    const bool x_missing = d.X.row(i).array().isNaN().any();
    const bool y_missing = d.Y.row(i).array().isNaN().any();
    const bool y_empty = d.Y.row(i).array().isNaN().all();
    if (a.missing == "error" && (x_missing || y_missing))
      throw InputError(
          fmt::format("row {} has a missing value; use --missing drop or --missing model", i));
    if (a.missing == "model" && x_missing)
      throw InputError(
          fmt::format("row {} has a missing input; drop such rows with --missing drop", i));
    if (a.missing == "drop" ? !(x_missing || y_missing) : !y_empty) keep.push_back(i);
  }
  if (static_cast<Index>(keep.size()) < d.X.rows()) {
    tell(common,
         fmt::format("{} of {} rows are left out: {}", d.X.rows() - static_cast<Index>(keep.size()),
                     d.X.rows(),
                     a.missing == "drop" ? "they have missing values" : "no output is observed"));
    d.X = take_rows(d.X, keep);
    d.Y = take_rows(d.Y, keep);
    if (d.noise.size()) d.noise = Vector(d.noise(keep));
  }
  return d;
}

void apply_settings(const FitArguments& a, Parameters& p) {
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

Outcome run_fit(const FitArguments& a, const Common& common) {
  if (a.model != "exact" && a.model != "auto")
    throw Unsupported(
        fmt::format("model '{}' is not offered by this version; it has: exact", a.model));
  if (a.likelihood != "gaussian")
    throw Unsupported(fmt::format(
        "likelihood '{}' is not offered by this version; it has: gaussian", a.likelihood));
  check_folder(a.out);  // before the work, not after it
  const TrainingData d = read_training(a, common);

  RegressionOptions options;
  options.kernel = Kernel(a.kernel);
  options.mean = Mean(a.mean);
  if (a.no_scale || a.scale == "none")
    options.scale_inputs = options.scale_outputs = ScaleMode::none;
  else if (a.scale != "auto")
    options.scale_inputs = options.scale_outputs = parse_scale_mode(a.scale);
  else
    options.scale_inputs = suggest_mode(d.X), options.scale_outputs = suggest_mode(d.Y);
  options.jitter = a.jitter;
  options.starts = a.restarts;
  options.seed = a.seed;
  options.training.max_iterations = a.max_iter;
  if (a.max_seconds > 0.0) options.training.max_seconds = a.max_seconds;
  options.standard_errors = a.standard_errors == "yes"  ? Switch::on
                            : a.standard_errors == "no" ? Switch::off
                                                        : Switch::automatic;
  if (!common.quiet && isatty(2)) {
    options.training.callback = [last = 2.0](const LbfgsState& s) mutable {
      if (s.seconds > last) {
        fmt::print(stderr, "\riteration {:>5}  objective {:<14.6f} {:>7.1f} s", s.iterations,
                   -s.value, s.seconds);
        std::fflush(stderr);
        last = s.seconds + 0.2;
      }
      return true;
    };
  }
  Regression model(d.X, d.Y, options, d.noise);
  apply_settings(a, model.parameters());
  SavedModel saved{model.fit(), d.inputs};
  saved.fit.input_names = d.inputs.names();
  saved.fit.output_names = d.output_names;
  for (const auto& w : saved.fit.summary.warnings) tell(common, "warning: " + w);
  if (!a.out.empty()) save_model(a.out, saved);

  Outcome out{describe_json(saved), describe_text(saved), 0};
  out.object["file"] = a.out.empty() ? json(nullptr) : json(a.out);
  out.text += a.out.empty() ? "not saved: give --out FILE to keep the model\n"
                            : fmt::format("saved to {}\n", a.out);
  return out;
}

}  // namespace

void add_fit(CLI::App& app, std::vector<std::unique_ptr<Verb>>& verbs) {
  auto* sub = app.add_subcommand("fit", "Train a model on a table");
  auto a = std::make_shared<FitArguments>();
  auto verb = std::make_unique<Verb>();
  sub->add_option("TRAIN", a->train, "CSV, TSV, NPY or IDX file, gzip too")->required();
  sub->add_option("--target", a->target, "Output column(s): name, number from 0, or range a:b")
      ->required()
      ->take_all()
      ->allow_extra_args(false);
  sub->add_option("--inputs", a->inputs, "Input columns (default: all others)")
      ->take_all()
      ->allow_extra_args(false);
  sub->add_option("--model", a->model, "exact or auto")->capture_default_str();
  sub->add_option("--kernel", a->kernel, "Kernel expression")->capture_default_str();
  sub->add_option("--likelihood", a->likelihood, "gaussian")->capture_default_str();
  sub->add_option("--mean", a->mean, "zero, constant, linear or poly(k)")->capture_default_str();
  sub->add_option("--set", a->set,
                  "PATH=VALUE[,VALUE…]: a start, or the value with --fix or --max-iter 0")
      ->take_all()
      ->allow_extra_args(false);
  sub->add_option("--fix", a->fix, "PATH: do not train it or anything below it")
      ->take_all()
      ->allow_extra_args(false);
  sub->add_option("--prior", a->prior, "PATH=DIST, e.g. kernel.lengthscales=gamma(2,1)")
      ->take_all()
      ->allow_extra_args(false);
  sub->add_option("--bounds", a->bounds, "PATH=a,b")->take_all()->allow_extra_args(false);
  sub->add_option("--tie", a->tie, "PATH=PATH or PATH=ratio*PATH")
      ->take_all()
      ->allow_extra_args(false);
  sub->add_option("--noise", a->noise, "Column of known noise variances, added to the trained one");
  sub->add_option("--missing", a->missing, "model (missing outputs), drop (rows) or error")
      ->check(CLI::IsMember({"model", "drop", "error"}))
      ->capture_default_str();
  sub->add_option("--scale", a->scale, "columns, global or none (default: by the data)")
      ->check(CLI::IsMember({"auto", "columns", "global", "none"}))
      ->capture_default_str();
  sub->add_flag("--no-scale", a->no_scale, "Same as --scale none");
  sub->add_option("--jitter", a->jitter, "Added to the covariance's diagonal, absolute")
      ->capture_default_str();
  sub->add_option("--max-iter", a->max_iter, "Iterations of each start; 0 only evaluates")
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str();
  sub->add_option("--max-seconds", a->max_seconds, "Time limit of training (0: none)")
      ->check(CLI::NonNegativeNumber);
  sub->add_option("--restarts", a->restarts, "Starts in all (0: three up to 1000 rows, else one)")
      ->check(CLI::NonNegativeNumber);
  sub->add_option("--standard-errors", a->standard_errors, "auto, yes or no")
      ->check(CLI::IsMember({"auto", "yes", "no"}))
      ->capture_default_str();
  sub->add_option("--seed", a->seed, "Seed of the restarts")->capture_default_str();
  sub->add_option("--header", a->header, "auto, yes or no")
      ->check(CLI::IsMember({"auto", "yes", "no"}))
      ->capture_default_str();
  sub->add_option("--out", a->out, "Model file to write");
  sub->footer(
      "Example:\n  covary fit train.csv --target y --kernel 'se(ard) + linear' --out model.cov");
  add_common(*sub, verb->common);
  verb->app = sub;
  verb->run = [a](const Common& common) { return run_fit(*a, common); };
  verbs.push_back(std::move(verb));
}

}  // namespace covary::cli
