#include "covary/models/missing_inputs.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "covary/data/kmeans.hpp"
#include "covary/data/split.hpp"
#include "covary/error.hpp"
#include "covary/linalg/parallel.hpp"
#include "models/composite.hpp"
#include "models/infer_row.hpp"
#include "models/latent_views.hpp"

namespace covary {
namespace {

constexpr Index fewest_rows = 3, inference_iterations = 200, inference_starts = 2;

// The squared distance of a row from a complete one, over what both have.
double distance(const RowMatrix& X, const RowMatrix& Y, Index i, Index r) {
  double sum = 0.0;
  for (const RowMatrix* table : {&X, &Y})
    for (Index c = 0; c < table->cols(); ++c) {
      const double away = (*table)(i, c) - (*table)(r, c);
      if (!std::isnan(away)) sum += away * away;
    }
  return sum;
}

}  // namespace

MissingInputsRegression::MissingInputsRegression(ConstRows X, ConstRows Y,
                                                 MissingInputsOptions options)
    : options_(std::move(options)) {
  if (options_.inducing == 0) options_.inducing = usual_latent_inducing;
  if (X.rows() != Y.rows())
    throw InputError(fmt::format("X has {} rows, Y {}", X.rows(), Y.rows()));
  ScalingFit in = fit_scaling(X, options_.scale_inputs), y = fit_scaling(Y, options_.scale_outputs);
  data_.warnings = std::move(in.warnings);
  data_.warnings.insert(data_.warnings.end(), y.warnings.begin(), y.warnings.end());
  data_.X = in.scaling.apply(X);
  data_.Y = y.scaling.apply(Y);
  data_.log_jacobian = y.scaling.log_jacobian(Y);
  data_.inputs = std::move(in.scaling);
  data_.outputs = std::move(y.scaling);
  for (Index i = 0; i < X.rows(); ++i)
    (X.row(i).array().isNaN().any() ? data_.holed : data_.whole).push_back(i);
}

// Whether the complete rows settle the kernel and the noise: two rows for each parameter. The bound
// of a row whose inputs are unknown falls with the variance of f over them, by 1/σ²; many such rows
// would rather have all rows be noise, at long lengthscales, than have their inputs found.
bool MissingInputsRegression::rows_tell_mapping(const RegressionFit& fit) const {
  Index settings = 0;
  for (const Parameter& p : fit.parameters.all())
    if (p.path != "features.Z") settings += p.value.size();
  return static_cast<Index>(data_.whole.size()) >= 2 * settings;
}

// q of the inputs of all rows, given what the regression says.
LatentMarginals MissingInputsRegression::infer_missing(const RegressionFit& fit) const {
  const auto& d = data_;
  const Index D = d.X.cols();
  const UncertainInputs map(fit.posterior);
  LatentMarginals out{d.X, RowMatrix::Zero(d.X.rows(), D), 0.0, {}};
  parallel_for(static_cast<Index>(d.holed.size()), [&](Index h) {
    const Index i = d.holed[static_cast<std::size_t>(h)];
    std::vector<std::pair<double, Index>> near;
    near.reserve(d.whole.size());
    for (const Index r : d.whole) near.emplace_back(distance(d.X, d.Y, i, r), r);
    const Index tries = std::min<Index>(inference_starts, static_cast<Index>(near.size()));
    std::partial_sort(near.begin(), near.begin() + tries, near.end());
    std::vector<Index> free;
    for (Index c = 0; c < D; ++c)
      if (std::isnan(d.X(i, c))) free.push_back(c);
    std::vector<InferredRow> starts;
    for (Index t = 0; t < tries; ++t) {
      InferredRow start{d.X.row(i), Vector::Zero(D)};
      for (const Index c : free) {
        start.mean(c) = d.X(near[static_cast<std::size_t>(t)].second, c);
        start.variance(c) = 0.5;
      }
      starts.push_back(std::move(start));
    }
    const RowMatrix y = d.Y.row(i);
    const std::vector<UncertainInputs::RowTerm> terms{{map, y.data()}};
    const InferredRow found = infer_row(terms, free, starts, inference_iterations);
    out.mean.row(i) = found.mean;
    out.variance.row(i) = found.variance;
  });
  return out;
}

// Its start: these means of q(X), or principal components of the outputs.
Gplvm MissingInputsRegression::latent_model(const RowMatrix& means) const {
  GplvmOptions g = mapping_options(options_);
  g.latent = data_.X.cols();
  g.given = data_.X;
  g.start_mean = means;
  return Gplvm(data_.Y, std::move(g));
}

Parameters& MissingInputsRegression::parameters() {
  if (parameters_.size() == 0) parameters_ = chosen_ = latent_model({}).parameters();
  return parameters_;
}

// The model starts where the regression and the inference have got to; Z at centres of the inputs.
void MissingInputsRegression::start_at(Gplvm& model, const RegressionFit& fit,
                                       const LatentMarginals& q, const UserSettings& user) const {
  const auto& d = data_;
  Parameters& p = model.parameters();
  start_mapping(p, fit, false);
  std::vector<double> mean, variance;
  for (Index i = 0; i < d.X.rows(); ++i)
    for (Index c = 0; c < d.X.cols(); ++c)
      if (std::isnan(d.X(i, c))) {
        mean.push_back(q.mean(i, c));
        variance.push_back(std::clamp(q.variance(i, c), 1e-4, 0.99));
      }
  const auto count = static_cast<Index>(mean.size());
  user.choose(p, "latent.mean", Eigen::Map<const Vector>(mean.data(), count));
  user.choose(p, "latent.variance", Eigen::Map<const Vector>(variance.data(), count));
  const RowMatrix Z =
      kmeans(q.mean, std::min(options_.inducing, d.X.rows()), options_.seed).centres;
  if (Z.size() == p.at("features.Z").value.size())  // repeated rows may leave fewer centres
    user.choose(p, "features.Z", Eigen::Map<const Vector>(Z.data(), Z.size()));
}

// Z and the lengthscales find their place before the inputs move.
void MissingInputsRegression::train_mapping(Gplvm& model, Trainer& trainer) const {
  const auto& o = options_;
  if (o.held_iterations == 0 || o.training.max_iterations == 0) return;
  Jitter jitter{o.jitter};
  Problem problem = model.problem(jitter);
  problem.shape = nullptr;
  trainer.minimise_held(problem, [](const std::string& path) { return path.starts_with("latent"); },
                        {std::min(o.training.max_iterations, o.held_iterations)});
}

// From the complete rows, if there are enough.
Gplvm MissingInputsRegression::started_model(const UserSettings& user, Trainer& trainer) const {
  const auto& d = data_;
  if (d.holed.empty() || static_cast<Index>(d.whole.size()) < fewest_rows) {
    Gplvm model = latent_model({});
    user.give(model.parameters());
    return model;
  }
  options_.training.say(
      fmt::format("{} of {} rows are complete: fitting these first", d.whole.size(), d.X.rows()));
  const auto whole = static_cast<Index>(d.whole.size());
  const RegressionFit first = fit_plain(take_rows(d.X, d.whole), take_rows(d.Y, d.whole),
                                        plain_options(options_, whole), user, trainer);
  const LatentMarginals q = infer_missing(first);
  Gplvm model = latent_model(q.mean);
  user.give(model.parameters());
  start_at(model, first, q, user);
  if (rows_tell_mapping(first)) {
    options_.training.say("keeping the kernel and the noise of the complete rows");
    model.parameters().fix("kernel");
    model.parameters().fix("likelihood");
  }
  train_mapping(model, trainer);
  return model;
}

MissingInputsFit MissingInputsRegression::fit() const {
  const auto& d = data_;
  Trainer trainer(options_.training, resume_);
  Gplvm model = started_model({chosen_, parameters_}, trainer);
  GplvmFit fit = model.fit(trainer);
  trainer.complete(fit.summary);
  return {as_regression(fit, d.inputs, d.outputs, d.log_jacobian, d.warnings),
          d.inputs.undo(fit.mean), d.inputs.undo_variance(fit.variance)};
}

}  // namespace covary
