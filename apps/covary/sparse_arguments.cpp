#include "sparse_arguments.hpp"

#include <fmt/format.h>

#include <charconv>

#include "covary/error.hpp"
#include "covary/parameters/suggest.hpp"

namespace covary::cli {
namespace {

constexpr Index most_exact_rows = 2000;

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
  sub.add_option(
         "--model", a.model,
         "exact, vfe, vfe(tight), fitc, pep(α), dtc, sor, pitc, cglb; auto: exact up to 2000 "
         "rows unless inducing variables are asked for, else vfe. Other likelihoods: laplace, ep, "
         "ep(α), vgp, and with inducing inputs "
         "svgp, "
         "fitc, pep(α); auto: laplace up to 2000 rows (1000 of several latent functions), else "
         "svgp")
      ->capture_default_str();
  sub.add_option(
         "--inducing", a.inducing,
         "Inducing inputs of a sparse model, or auto: until the bracket of the evidence is narrow, "
         "and of eigen features as many as the kernel's spectrum asks for")
      ->capture_default_str();
  sub.add_option("--inducing-file", a.inducing_file, "Table of them, in the units of the data");
  sub.add_option("--selection", a.selection,
                 "greedy_variance, kmeans, hierarchical_kmeans, random, grid; of other likelihoods "
                 "informative_vectors too")
      ->check(CLI::IsMember({"greedy_variance", "kmeans", "hierarchical_kmeans", "random", "grid",
                             "informative_vectors"}))
      ->capture_default_str();
  sub.add_option(
         "--features", a.features,
         "Inducing variables of sparse regression and svgp: points, multiscale, multiscale(C), "
         "frequency, "
         "timefrequency, basis(C), eigen, fourier, fourier(l2), orthogonal, empirical; "
         "stacked(KIND): of each part of a sum; functions that are a model of their own (sor): "
         "rff, ssgp, hilbert, bumps")
      ->capture_default_str();
  sub.add_option("--route", a.route, "Of a sparse sweep: auto, fast, safe or stable")
      ->check(CLI::IsMember({"auto", "fast", "safe", "stable"}))
      ->capture_default_str();
  sub.add_option("--warm-start", a.warm_start,
                 "An approximation, as fitc, by which a sparse model is trained first");
  sub.add_option("--groups", a.groups, "Of PITC (0: about rows/inducing)")
      ->check(CLI::NonNegativeNumber);
  sub.add_option("--covariance", a.covariance,
                 "Of q in svgp: full, diagonal, or blocks(B) along the diagonal")
      ->capture_default_str();
  sub.add_option("--batch", a.batch,
                 "Rows of a minibatch of svgp (0: all up to 20 000 rows) and of gplvm (0: all)")
      ->check(CLI::NonNegativeNumber);
  sub.add_option("--epochs", a.epochs,
                 "Passes over the data by minibatches (0: twenty; of gplvm fifty)")
      ->check(CLI::NonNegativeNumber);
}

void check_features(const SparseArguments& a, bool any_features, const std::string& model) {
  if (FeatureChoice(a.features).is_points() || any_features) return;
  throw InputError(fmt::format(
      "--features {} are inducing variables of sparse regression and svgp; {} has {}", a.features,
      model, model == "exact" ? "none: name a sparse model, as --model vfe" : "points alone"));
}

std::optional<Approximation> approximation_of(const SparseArguments& a, Index rows) {
  if (a.model == "exact") {
    check_features(a, false, a.model);
    return {};
  }
  if (a.model == "auto") {
    const FeatureChoice features(a.features);
    if (features.is_parametric()) return Approximation(Approximation::Kind::sor);
    const bool asked = inducing_of(a) > 0 || !a.inducing_file.empty() || !features.is_points();
    if (rows <= most_exact_rows && !asked) return {};
    return Approximation(Approximation::Kind::vfe);
  }
  try {
    return Approximation(a.model);
  } catch (const InputError& e) {
    if (!std::string(e.what()).starts_with("unknown approximation")) throw;
    throw Unsupported(fmt::format(
        "model '{}' is not offered by this version{}; it has: exact, auto, vfe (= sparse), "
        "vfe(tight), fitc, pep(α), dtc, sor, pitc, cglb",
        a.model,
        did_you_mean(a.model, {"exact", "auto", "vfe", "fitc", "dtc", "sor", "pitc", "pep(0.5)",
                               "sparse", "vfe(tight)", "cglb"})));
  }
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
  if (const auto approximation = approximation_of(a, d.X.rows())) {
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
