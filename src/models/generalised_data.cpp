#include "models/generalised_data.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "covary/error.hpp"
#include "covary/likelihoods/likelihoods.hpp"
#include "covary/models/generalised_fit.hpp"
#include "covary/models/gplvm.hpp"
#include "covary/statistics/sweep.hpp"
#include "covary/training/state.hpp"
#include "models/row_summaries.hpp"
#include "models/starts.hpp"
#include "models/user_settings.hpp"

namespace covary {
namespace {

// Labels that are all of one class leave a classifier nothing to say.
void check_classes(const Likelihood& likelihood, ConstVector y) {
  if (likelihood.classes() == 0) return;
  double low = INFINITY, high = -INFINITY;
  for (const double label : y)
    if (!std::isnan(label)) low = std::min(low, label), high = std::max(high, label);
  if (low == high)
    throw InputError(
        fmt::format("every observed target is of class {}; a classifier needs rows of at least two "
                    "classes",
                    low));
}

// Likelihood::check() of rows in a file: how many targets do not suit, and the first of them.
void check_targets(const Likelihood& likelihood, const RowSource& rows) {
  const auto complaint = [&](double y) {
    if (std::isnan(y)) return std::string();
    return std::isfinite(y) ? likelihood.node().complaint(y, likelihood.node().default_aux())
                            : fmt::format("{}", y);
  };
  const Sweep sweep(rows, 4096);
  const Matrix lanes = sweep.of_lanes(2, [&]() -> Sweep::Body {
    return [&](const DataBlock& block, double* bad) {  // the count and the first row, from 1
      for (Index i = 0; i < block.x.n * block.outputs; ++i)
        if (!complaint(block.y[i]).empty() && bad[0]++ == 0.0) {
          const Index row = block.x.first + i / block.outputs;
          bad[1] = static_cast<double>(row + 1);
        }
    };
  });
  double first = INFINITY;
  for (Index lane = 0; lane < lanes.cols(); ++lane)
    if (lanes(1, lane) > 0.0) first = std::min(first, lanes(1, lane));
  if (std::isinf(first)) return;
  const auto row = static_cast<Index>(first) - 1;
  const RowMatrix Y = sweep.gather({row}).Y;
  std::string wrong;
  for (Index p = 0; p < Y.cols() && wrong.empty(); ++p) wrong = complaint(Y(0, p));
  throw InputError(fmt::format("{} targets do not suit {}, the first at row {}: {}",
                               lanes.row(0).sum(), likelihood.print(), row, wrong));
}

void check_column(const Vector& column, Index rows, const char* name) {
  if (column.size() && column.size() != rows)
    throw InputError(fmt::format("{} has {} entries for {} rows", name, column.size(), rows));
}

void check_weights(const Vector& weights) {
  for (Index i = 0; i < weights.size(); ++i)
    if (!(weights(i) >= 0.0) || !std::isfinite(weights(i)))
      throw InputError(fmt::format(
          "the weight of row {} is {}; weights are finite and not negative", i, weights(i)));
  if (weights.size() && !(weights.maxCoeff() > 0.0))
    throw InputError("all weights are zero; a fit needs a row with a positive one");
}

// A noise that was given no start: most of what varies is signal.
void suit_noise(const Likelihood& likelihood, double y_variance, Parameters& parameters) {
  if (!likelihood.node().real_targets() || likelihood.node().has_noise_start()) return;
  for (const auto& [path, start] : {std::pair{"likelihood.variance", 0.1 * y_variance},
                                    {"likelihood.scale", 0.3 * std::sqrt(y_variance)}})
    if (parameters.contains(path)) parameters.set(path, start);
}

// Where the latent functions of one output, whose mean is known, lie, as far as it can be told.
Vector levels_of_output(const Likelihood& l, double mean, const Vector& y, ConstVector aux,
                        ConstVector weights) {
  Vector out = Vector::Zero(l.functions());
  if (const auto each = each_vs_rest(l)) {
    for (Index k = 0; k < out.size(); ++k) {
      Vector labels = y;
      for (double& label : labels)
        if (!std::isnan(label)) label = label == static_cast<double>(k) ? 1.0 : 0.0;
      out(k) = typical_latent(*each, labels, aux, weights);
    }
    return out;
  }
  // The first latent function is the one in the units of y.
  out(0) = l.node().real_targets() ? mean : typical_latent(l, y, aux, weights);
  return out;
}

// Of all outputs, one after the other.
Vector latent_levels(const Likelihood& l, const RowSource& rows, ConstRows Y, ConstVector aux,
                     ConstVector weights) {
  const Vector means =
      l.node().real_targets() ? column_means(rows) : Vector(Vector::Zero(Y.cols()));
  Vector out(l.functions() * Y.cols());
  for (Index p = 0; p < Y.cols(); ++p)
    out.segment(p * l.functions(), l.functions()) =
        levels_of_output(l, means(p), Y.col(p), aux, weights);
  return out;
}

constexpr const char* of_map = "GP-LVM of the inputs, ";

Gplvm map_of(ConstRows scaled, const FunctionOptions& options, TrainingOptions training) {
  GplvmOptions o;
  o.latent = options.gplvm;
  o.seed = options.seed;
  o.training = std::move(training);
  return Gplvm(scaled, std::move(o));
}

InputMap latent_space(GplvmFit fit) {
  for (Index d = 0; d < fit.outputs(); ++d) fit.output_names.push_back(fmt::format("x{}", d));
  return InputMap(LatentFeatures(std::move(fit)));
}

// The rows that the GP-LVM is of: all, also those that have no target, but for those with a weight
// of zero, which are not there.
std::vector<Index> rows_of_map(Index rows, const Vector& weights) {
  std::vector<Index> out;
  for (Index i = 0; i < rows; ++i)
    if (weights.size() == 0 || weights(i) > 0.0) out.push_back(i);
  return out;
}

void see_latent_space(ConstRows X, const std::vector<Index>& observed,
                      const FunctionOptions& options, GeneralisedData& data) {
  if (options.gplvm > X.cols())
    throw InputError(fmt::format(
        "gplvm is {}, but there are {} input columns; a latent space cannot have more dimensions "
        "than that",
        options.gplvm, X.cols()));
  const std::vector<Index> all = rows_of_map(X.rows(), options.weights);
  std::vector<Index> places;  // those of the observed among all
  for (std::size_t i = 0; i < all.size() && places.size() < observed.size(); ++i)
    if (observed[places.size()] == all[i]) places.push_back(static_cast<Index>(i));
  data.input_map = options.input_map;
  if (!data.input_map) {
    TrainingOptions none;
    none.max_iterations = 0;
    none.starts = 1;
    const RowMatrix scaled = data.scaled.inputs.apply(RowMatrix(X(all, Eigen::all)));
    data.input_map = latent_space(map_of(scaled, options, std::move(none)).fit());
  }
  const LatentFeatures* found = data.input_map.gplvm();
  const RowMatrix features = found ? found->of_fit() : RowMatrix();
  if (features.rows() != static_cast<Index>(all.size()))
    throw InputError(fmt::format("the given latent space has {} rows, the data {}", features.rows(),
                                 all.size()));
  data.scaled.X = features(places, Eigen::all);
}

}  // namespace

void FunctionOptions::check(Inference method) const {
  likelihood.require(method);
  if (pca < 0)
    throw InputError(
        fmt::format("pca is {}; it is a number of principal components, or 0 for none", pca));
  if (gplvm < 0)
    throw InputError(
        fmt::format("gplvm is {}; it is a number of latent dimensions, or 0 for none", gplvm));
  if (pca > 0 && gplvm > 0) throw InputError("give either pca or gplvm, not both");
  if (!classes.empty() && static_cast<Index>(classes.size()) != likelihood.classes())
    throw InputError(fmt::format("{} class names, but {} has {} classes", classes.size(),
                                 likelihood.print(), likelihood.classes()));
  training.check();
}

bool functions_differ(const Likelihood& likelihood) {
  return likelihood.classes() == 0 || each_vs_rest(likelihood).has_value();
}

GeneralisedData generalised_data(ConstRows X, ConstRows Y, const FunctionOptions& options) {
  const Likelihood& l = options.likelihood;
  const bool noise = l.aux() == Aux::noise;
  const RowMatrix dense = Y;
  check_regression_data(X, dense, noise ? options.aux : Vector());
  check_column(options.aux, X.rows(), "the column beside y");
  check_column(options.weights, X.rows(), "the column of weights");
  check_weights(options.weights);
  for (Index p = 0; p < Y.cols(); ++p) l.check(Vector(Y.col(p)), options.aux);
  std::vector<Index> rows;
  for (Index i = 0; i < Y.rows(); ++i)
    if (!Y.row(i).array().isNaN().all() &&
        (options.weights.size() == 0 || options.weights(i) > 0.0))
      rows.push_back(i);
  if (rows.empty()) throw InputError("no row with a positive weight has a target");
  const RowMatrix observed = Y(rows, Eigen::all);
  for (Index p = 0; p < Y.cols(); ++p) check_classes(l, Vector(observed.col(p)));

  GeneralisedData out;
  if (options.aux.size()) out.aux = options.aux(rows);
  if (options.weights.size()) out.weights = options.weights(rows);
  out.scaled =
      scaled_data(X(rows, Eigen::all), observed, noise ? out.aux : Vector(), options.scale_inputs,
                  l.node().real_targets() ? options.scale_outputs : ScaleMode::none, out.weights);
  if (options.pca > 0) {
    out.input_map = options.input_map ? options.input_map
                                      : InputMap(Pca::fit(out.scaled.X, options.pca, out.weights));
    out.scaled.X = out.input_map.transform(out.scaled.X);
  } else if (options.gplvm > 0) {
    see_latent_space(X, rows, options, out);
  }
  if (noise) out.aux = out.scaled.point_noise;
  return out;
}

GeneralisedData generalised_data(FileRows& rows, const FunctionOptions& options, Index sample) {
  if (rows.dims() == 0 || rows.outputs() == 0)
    throw InputError("--stream needs an output column and an input column");
  if (options.aux.size() || options.weights.size())
    throw Unsupported("--weights and --exposure are not available with --stream");
  if (options.pca > 0 || options.gplvm > 0)
    throw Unsupported("--pca and --gplvm are not available with --stream; transform the file");
  const Likelihood& l = options.likelihood;
  const bool real = l.node().real_targets();
  GeneralisedData out;
  out.scaled = scaled_data(rows, options.scale_inputs,
                           real ? options.scale_outputs : ScaleMode::none, sample, options.seed);
  for (Index p = 0; p < rows.outputs(); ++p) check_classes(l, Vector(out.scaled.Y.col(p)));
  if (!real) check_targets(l, rows);
  return out;
}

InputMap UntrainedMap::train(const FunctionOptions& options, const Scaling& inputs,
                             Trainer& trainer, std::vector<std::string>& warnings) const {
  TrainingOptions training;
  training.max_iterations = options.training.max_iterations;
  if (options.training.tell)
    training.tell = [&](const std::string& text) { options.training.tell(of_map + text); };
  const std::vector<Index> all = rows_of_map(X.rows(), options.weights);
  GplvmFit fit = map_of(inputs.apply(RowMatrix(X(all, Eigen::all))), options, std::move(training))
                     .fit(trainer);
  for (const auto& warning : fit.summary.warnings) warnings.push_back(of_map + warning);
  return latent_space(std::move(fit));
}

InputMap UntrainedMap::of(const FitNode& fit, const FunctionOptions& options,
                          const Scaling& inputs) const {
  const auto* other = dynamic_cast<const GeneralisedFit*>(&fit);
  const LatentFeatures* map = other ? other->input_map.gplvm() : nullptr;
  const auto rows = static_cast<Index>(rows_of_map(X.rows(), options.weights).size());
  const bool same =
      map && map->fit().mean.rows() == rows && other->input_scaling.cols() == inputs.cols() &&
      other->input_scaling.shift == inputs.shift && other->input_scaling.scale == inputs.scale;
  return same ? other->input_map : InputMap();
}

void UntrainedMap::settle(const Parameters& said, Parameters& parameters) const {
  const UserSettings user(chosen, said);
  for (const Parameter& p : said.all())
    if (user.holds(p.path) && parameters.contains(p.path) &&
        parameters.at(p.path).value.size() != p.value.size())
      throw InputError(
          fmt::format("{} was given {} values, but the trained latent space of the inputs asks for "
                      "{}: it does not use all of its dimensions; lower gplvm",
                      p.path, p.value.size(), parameters.at(p.path).value.size()));
  user.give(parameters);
}

Parameters function_parameters(const FunctionOptions& options, const RowSource& rows, ConstRows Y,
                               ConstVector aux, ConstVector weights, Index functions) {
  const Likelihood& l = options.likelihood;
  const Index parts = options.separate_kernels ? functions : 1;
  const Vector levels = latent_levels(l, rows, Y, aux, weights);
  const DataScale scale = data_scale(rows);
  Parameters out;
  for (Index i = 0; i < parts; ++i) {
    DataScale own = scale;
    if (!l.node().real_targets()) {
      // A mean of zero leaves it to the function to get there.
      const bool own_level = parts > 1 && parts == levels.size();
      const double square = own_level ? levels(i) * levels(i)
                                      : levels.squaredNorm() / static_cast<double>(levels.size());
      own.y_variance = 1.0 + (options.mean.is_zero() ? square : 0.0);
    }
    const Parameters kernel = options.kernel.parameters(
        own, parts == 1 ? "kernel" : fmt::format("function.{}.kernel", i));
    for (const Parameter& p : kernel.all()) out.add(p);
  }
  const Parameters likelihood = l.parameters();
  for (const Parameter& p : likelihood.all()) out.add(p);
  suit_noise(l, scale.y_variance, out);
  options.mean.declare(out, rows.dims(), levels);
  return out;
}

}  // namespace covary
