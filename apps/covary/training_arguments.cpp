#include "training_arguments.hpp"

#include <fmt/format.h>

#include "covary/data/split.hpp"
#include "covary/error.hpp"

namespace covary::cli {

void add_training_options(CLI::App& sub, TrainingArguments& a) {
  const auto list = [&](const char* name, std::vector<std::string>& values, const char* what) {
    return sub.add_option(name, values, what)->take_all()->allow_extra_args(false);
  };
  sub.add_option("TRAIN", a.train, "CSV, TSV, NPY or IDX file, gzip too")->required();
  list("--target", a.target, "Output column(s): name, number from 0, or range a:b")->required();
  list("--inputs", a.inputs, "Input columns (default: all others)");
  sub.add_option("--lags", a.lags,
                 "Autoregression: the inputs are so many past values of the targets, which are "
                 "series")
      ->check(at_least_one());
  sub.add_option(
         "--likelihood", a.likelihood,
         "gaussian, bernoulli, softmax, one_vs_rest, poisson, student_t, … (docs/likelihoods.md); "
         "auto: by the target")
      ->capture_default_str();
  sub.add_option("--mean", a.mean, "zero, constant, linear or poly(k)")->capture_default_str();
  list("--set", a.set, "PATH=VALUE[,VALUE…]: a start, or the value with --fix or --max-iter 0");
  list("--fix", a.fix, "PATH: do not train it or anything below it");
  list("--prior", a.prior, "PATH=DIST, e.g. kernel.lengthscales=gamma(2,1)");
  list("--bounds", a.bounds, "PATH=a,b");
  list("--tie", a.tie, "PATH=PATH or PATH=ratio*PATH");
  sub.add_option("--noise", a.noise, "Column of known noise variances, added to the trained one");
  sub.add_option("--exposure", a.exposure,
                 "Column of exposures (poisson, …), trials (binomial) or bin volumes (lgcp)");
  sub.add_option("--weights", a.weights,
                 "Column of weights of the rows, for --model laplace, ep, vgp and svgp");
  sub.add_option("--missing", a.missing,
                 "model (missing outputs), learn (missing inputs too), drop (rows) or error")
      ->check(CLI::IsMember({"model", "learn", "drop", "error"}))
      ->capture_default_str();
  sub.add_option("--scale", a.scale, "columns, global or none (default: by the data)")
      ->check(CLI::IsMember({"auto", "columns", "global", "none"}))
      ->capture_default_str();
  sub.add_flag("--no-scale", a.no_scale, "Same as --scale none");
  sub.add_option("--pca", a.pca,
                 "The model sees so many principal components of the scaled inputs; for --model "
                 "laplace, ep, vgp and svgp")
      ->check(at_least_one());
  sub.add_option("--gplvm", a.gplvm,
                 "The model sees the latent space, of so many dimensions at most, that a Bayesian "
                 "GP-LVM finds for the inputs of all rows; for the same models")
      ->check(at_least_one());
  sub.add_option("--jitter", a.jitter, "Added to the covariance's diagonal, absolute")
      ->capture_default_str();
  sub.add_option("--max-iter", a.max_iter, "Iterations of each start; 0 only evaluates")
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str();
  sub.add_option("--max-seconds", a.max_seconds, "Time limit of a training (0: none)")
      ->check(CLI::NonNegativeNumber);
  sub.add_option("--restarts", a.restarts, "Starts in all (0: three up to 1000 rows, else one)")
      ->check(CLI::NonNegativeNumber);
  sub.add_option("--folds", a.folds, "Cross-validation: K folds, or a column that labels them");
  sub.add_option("--seed", a.seed, "Seed of the restarts and the folds")->capture_default_str();
  sub.add_option("--header", a.header, "auto, yes or no")
      ->check(CLI::IsMember({"auto", "yes", "no"}))
      ->capture_default_str();
  sub.add_flag("--verbose", a.verbose, "A line on standard error for every iteration");
}

void check_regression_arguments(const TrainingArguments& a) {
  if (!a.weights.empty())
    throw Unsupported(
        "--weights is for --model laplace, ep, vgp and svgp; known noise variances go by --noise");
  if (a.pca > 0 || a.gplvm > 0)
    throw Unsupported(fmt::format(
        "{} is for --model laplace, ep, vgp and svgp; of Gaussian noise say --model svgp",
        a.pca > 0 ? "--pca" : "--gplvm"));
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
