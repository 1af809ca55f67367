#include "covary/models/warped_regression.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "covary/data/pca.hpp"
#include "covary/error.hpp"
#include "covary/models/sparse_regression.hpp"

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
  if (inducing < 1)
    throw InputError(fmt::format("inducing is {}; it must be at least 1", inducing));
  training.check();
}

WarpedRegression::WarpedRegression(ConstRows X, ConstRows Y, WarpedRegressionOptions options)
    : options_(std::move(options)), X_(X), Y_(Y) {
  options_.check();
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

WarpedRegressionFit WarpedRegression::fit(TrainingState resume) const {
  const auto& o = options_;
  Trainer trainer(o.training, std::move(resume));
  SparseRegressionOptions r;
  r.kernel = "se(ard)";
  r.inducing = std::min(o.inducing, X_.rows());
  r.scale_outputs = o.scale_outputs;
  r.jitter = o.jitter;
  r.seed = o.seed;
  r.training = o.training;
  r.training.starts = 0;
  o.training.say("a sparse regression without the warp comes first");
  const RegressionFit plain = SparseRegression(X_, Y_, r).fit(trainer);

  GplvmOptions g;
  g.latent = o.latent;
  g.kernel = o.kernel;
  g.inducing = o.inducing;
  g.scale_outputs = o.scale_outputs;
  g.jitter = o.jitter;
  g.times = X_;
  g.times_are_inputs = true;
  g.dynamics = o.inner;
  g.start_mean = start_means(plain.predict_mean(X_));
  g.held_iterations = o.held_iterations;
  g.seed = o.seed;
  g.training = o.training;
  if (g.training.starts == 0) g.training.starts = 1;
  WarpedRegressionFit out(Gplvm(Y_, g).fit(trainer));
  Summary& summary = out.summary;
  if (!(summary.value > plain.summary.value))
    summary.warnings.push_back(
        fmt::format("the warp gains nothing: its bound is {:.4g}, that of vfe without it {:.4g}",
                    summary.value, plain.summary.value));
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
