// What a sparse model is made of before it is trained: its rows, in memory or in a file, and its
// inducing inputs.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "covary/error.hpp"
#include "inference/greedy.hpp"
#include "inference/pitc.hpp"
#include "models/row_summaries.hpp"
#include "models/sparse_regression_impl.hpp"

namespace covary {
namespace {

bool is_feature(const Parameter& p) { return p.path.starts_with("features."); }

// With automatic M as for 500, which few data sets exceed.
Index rows_to_keep(const SparseRegressionOptions& o) {
  if (o.sample > 0) return o.sample;
  const Index M = o.Z.rows() ? o.Z.rows() : o.inducing ? o.inducing : 500;
  return std::max<Index>(20000, 40 * M);
}

}  // namespace

SparseRegression::Impl::Impl(ConstRows X, ConstRows Y, SparseRegressionOptions options,
                             ConstVector point_noise)
    : options_(std::move(options)) {
  options_.check();
  take(scaled_data(X, Y, point_noise, options_.scale_inputs, options_.scale_outputs));
  if (options_.approximation.kind == Approximation::Kind::pitc) {
    // Rows in the order of their groups.
    const Index M = options_.inducing ? options_.inducing : 100;
    const Index groups = options_.groups ? options_.groups : std::max<Index>(1, X.rows() / M);
    const auto order = order_by_cluster(X_, groups, options_.seed, group_starts_);
    X_ = RowMatrix(X_(order, Eigen::all));
    Y_ = RowMatrix(Y_(order, Eigen::all));
    if (point_noise_.size()) point_noise_ = Vector(point_noise_(order));
  }
  rows_ = std::make_shared<MemoryRows>(X_, Y_, point_noise_);
  begin();
}

SparseRegression::Impl::Impl(std::shared_ptr<FileRows> rows, SparseRegressionOptions options)
    : options_(std::move(options)) {
  options_.check();
  if (!rows || rows->dims() == 0 || rows->outputs() == 0)
    throw InputError("--stream needs at least one input and one output column");
  if (options_.approximation.kind == Approximation::Kind::pitc)
    throw Unsupported(
        "pitc puts the rows in order by clusters and needs them in memory; of rows in a file fit "
        "vfe, vfe(tight), fitc, pep(α), dtc or sor");
  if (options_.approximation.kind == Approximation::Kind::cglb)
    throw Unsupported(
        "cglb compares every row with every other and needs them in memory; of rows in a file fit "
        "vfe, vfe(tight), fitc, pep(α), dtc or sor");
  take(scaled_data(*rows, options_.scale_inputs, options_.scale_outputs, rows_to_keep(options_),
                   options_.seed));
  if (X_.rows() < rows->rows())
    say(fmt::format("{} of {} rows are kept in memory, to choose inducing inputs and to start from",
                    X_.rows(), rows->rows()));
  rows_ = std::move(rows);
  begin();
}

void SparseRegression::Impl::take(ScaledData data) {
  X_ = std::move(data.X);
  Y_ = std::move(data.Y);
  point_noise_ = std::move(data.point_noise);
  input_scaling_ = std::move(data.inputs);
  output_scaling_ = std::move(data.outputs);
  log_jacobian_ = data.log_jacobian;
  warnings_ = std::move(data.warnings);
}

// Parameters scaled to the data, and the first inducing inputs.
void SparseRegression::Impl::begin() {
  if (options_.Z.size() && options_.Z.cols() != X_.cols())
    throw InputError(
        fmt::format("the inducing inputs have {} columns, X has {}", options_.Z.cols(), X_.cols()));
  settings_ = std::make_shared<FeatureSettings>();
  columns_ = columns_by_pattern(*rows_);
  sums_ = std::make_shared<OnePassCache>();
  const DataScale scale = data_scale(*rows_);
  parameters_ = options_.kernel.parameters(scale);
  const double noise = 0.1 * scale.y_variance;
  parameters_.add({"likelihood.variance", Vector::Constant(1, noise),
                   Transform::positive(noise, 1e-7 * noise)});
  options_.mean.declare(parameters_, X_.cols(), column_means(*rows_));
  if (options_.Z.size())
    set_inputs(input_scaling_.apply(options_.Z));
  else
    choose_features(options_.inducing ? options_.inducing
                                      : std::min(first_inducing, options_.most_inducing));
}

// New features take the place of the old; their parameters keep their flags.
void SparseRegression::Impl::set_features(FeaturesPtr features) {
  features_ = std::move(features);
  Parameters all;
  for (const Parameter& p : parameters_.all())
    if (!is_feature(p)) {
      Parameter copy = p;
      copy.tied_to.clear();
      all.add(std::move(copy));
    }
  Parameters own;
  features_->declare(own);
  settings_->chosen(own);
  for (Parameter p : own.all()) {
    if (parameters_.contains(p.path)) settings_->carry(parameters_.at(p.path), p);
    all.add(std::move(p));
  }
  for (const Parameter& p : parameters_.all())
    if (!p.tied_to.empty()) all.tie(p.path, p.tied_to, p.ratio);
  parameters_ = std::move(all);
}

bool SparseRegression::Impl::trains_features() const {
  for (const Parameter& p : parameters_.all())
    if (is_feature(p) && p.trainable) return true;
  return false;
}

void SparseRegression::Impl::set_parameters(Parameters parameters, FeaturesPtr features) {
  features_ = std::move(features);
  parameters_ = std::move(parameters);
  Parameters own;
  for (Parameter p : parameters_.all())
    if (is_feature(p)) {
      p.tied_to.clear();
      own.add(std::move(p));
    }
  settings_->chosen(own);
}

void SparseRegression::Impl::start_from(const Impl& other) {
  features_ = other.features_;
  parameters_ = other.parameters_;
  *settings_ = *other.settings_;
}

void SparseRegression::Impl::set_inputs(ConstRows Z) {
  const Vector theta = parameters_.values().head(options_.kernel.parameter_count(X_.cols()));
  set_features(start_features(options_.features, {.kernel = options_.kernel,
                                                  .theta = theta,
                                                  .X = X_,
                                                  .M = Z.rows(),
                                                  .seed = options_.seed,
                                                  .Z = Z}));
}

void SparseRegression::Impl::choose_features(Index M) {
  if (features_ && M == features_->size() && settings_->holds_any()) return;
  const Vector theta = parameters_.values().head(options_.kernel.parameter_count(X_.cols()));
  const auto by_gain = [&](Index n) {
    const Sweep sweep = Sweep::for_features(*rows_, n);
    const SparseProblem of_vfe{Approximation::Kind::vfe, nullptr, &options_.kernel,
                               &options_.mean,           &sweep,  columns_};
    SparseValues v{theta, Vector(), parameters_.at("likelihood.variance").value(0), Matrix()};
    if (const Index B = options_.mean.basis_count(X_.cols()); B > 0)
      v.mean_weights =
          Eigen::Map<const RowMatrix>(parameters_.at("mean.weights").value.data(), B, Y_.cols());
    Jitter jitter{options_.jitter};
    return select_by_gain(options_.selection, n, of_vfe, v, jitter, options_.seed);
  };
  const auto choose = [&](Index n) {
    SelectionResult chosen =
        is_by_gain(options_.selection)
            ? by_gain(n)
            : select_inducing(options_.selection, n, X_, options_.kernel, theta, options_.seed);
    if (!chosen.note.empty()) say(chosen.note);
    return chosen.Z;
  };
  set_features(start_features(options_.features, {.kernel = options_.kernel,
                                                  .theta = theta,
                                                  .X = X_,
                                                  .M = M,
                                                  .seed = options_.seed,
                                                  .choose = choose}));
}

}  // namespace covary
