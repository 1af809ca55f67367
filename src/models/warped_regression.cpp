#include "covary/models/warped_regression.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include "covary/data/pca.hpp"
#include "covary/error.hpp"
#include "models/composite.hpp"
#include "models/latent_views.hpp"

namespace covary {
namespace {

// Columns that vary, each with mean zero and unit variance.
RowMatrix standardised(const RowMatrix& X) {
  const Scaling scaling = fit_scaling(X, ScaleMode::columns).scaling;
  const RowMatrix all = scaling.apply(X);
  std::vector<Index> kept;
  for (Index c = 0; c < X.cols(); ++c)
    if (all.col(c).maxCoeff() > all.col(c).minCoeff()) kept.push_back(c);
  return all(Eigen::all, kept);
}

}  // namespace

void WarpedRegressionOptions::check() const {
  if (latent < 1)
    throw InputError(fmt::format("the warp needs at least one dimension, got {}", latent));
  if (inducing < 0)
    throw InputError(fmt::format("inducing is {}; it must be at least 1, or 0 for {}", inducing,
                                 usual_latent_inducing));
  training.check();
}

WarpedRegression::WarpedRegression(ConstRows X, ConstRows Y, WarpedRegressionOptions options)
    : options_(std::move(options)), X_(X), Y_(Y) {
  options_.check();
  if (options_.inducing == 0) options_.inducing = usual_latent_inducing;
  if (X.rows() != Y.rows())
    throw InputError(fmt::format("X has {} rows, Y {}", X.rows(), Y.rows()));
  if (X.rows() < 2 || X.cols() == 0)
    throw InputError("a regression needs at least two rows, and input columns");
  for (Index i = 0; i < X.rows(); ++i)
    if (!X.row(i).allFinite())
      throw InputError(fmt::format("X has a non-finite value in row {}; drop such rows", i));
}

// `smooth`: N×P. What neither it nor the inputs have is left at zero.
RowMatrix WarpedRegression::start_means(const RowMatrix& smooth) const {
  const Index N = X_.rows(), Q = options_.latent;
  RowMatrix outputs = standardised(smooth);
  if (outputs.cols() > Q) outputs = standardised(Pca::fit(outputs, Q).transform(outputs));
  const RowMatrix inputs = standardised(X_);
  RowMatrix out = RowMatrix::Zero(N, Q);
  out.leftCols(outputs.cols()) = outputs;
  const Index more = std::min(Q - outputs.cols(), inputs.cols());
  out.middleCols(outputs.cols(), more) = inputs.leftCols(more);
  return out;
}

Gplvm WarpedRegression::latent_model(const RowMatrix& smooth) const {
  GplvmOptions g = mapping_options(options_);
  g.latent = options_.latent;
  g.scale_outputs = options_.scale_outputs;
  g.times = X_;
  g.times_are_inputs = true;
  g.dynamics = options_.inner;
  g.start_mean = start_means(smooth);
  return Gplvm(Y_, std::move(g));
}

Parameters& WarpedRegression::parameters() {
  if (parameters_.size() == 0) parameters_ = chosen_ = latent_model(filled(Y_)).parameters();
  return parameters_;
}

WarpedRegressionFit WarpedRegression::fit() const {
  const auto& o = options_;
  Trainer trainer(o.training, resume_);
  const UserSettings user(chosen_, parameters_);
  // Where h is given, no other model tells where it lies.
  std::optional<RegressionFit> plain;
  if (!user.holds_all("latent.")) {
    SparseRegressionOptions r = plain_options(o, X_.rows());
    r.kernel = "se(ard)";
    r.scale_inputs = ScaleMode::columns;
    r.scale_outputs = o.scale_outputs;
    o.training.say("a sparse regression without the warp comes first");
    plain = SparseRegression(X_, Y_, std::move(r)).fit(trainer);
  }
  Gplvm model = latent_model(plain ? plain->predict_mean(X_) : filled(Y_));
  user.give(model.parameters());
  WarpedRegressionFit out(model.fit(trainer));
  Summary& summary = out.summary;
  trainer.complete(summary);
  if (plain && !(summary.value > plain->summary.value))
    summary.warnings.push_back(
        fmt::format("the warp gains nothing: its bound is {:.4g}, that of vfe without it {:.4g}",
                    summary.value, plain->summary.value));
  out.layers.summary = summary;
  return out;
}

WarpedRegressionFit::WarpedRegressionFit(GplvmFit of) : layers(std::move(of)) {
  model = "warped";
  parameters = layers.parameters;
  summary = layers.summary;
  value = layers.value;
  log_prior = layers.log_prior;
}

LatentMarginals WarpedRegressionFit::inner(ConstRows X) const { return layers.forecast(X); }

Prediction WarpedRegressionFit::predict(ConstRows X) const {
  const LatentMarginals h = inner(X);
  return layers.decode(h.mean, h.variance);
}

}  // namespace covary
