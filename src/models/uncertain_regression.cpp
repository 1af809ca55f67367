#include "covary/models/uncertain_regression.hpp"

#include <fmt/format.h>

#include <cmath>
#include <limits>
#include <utility>

#include "covary/error.hpp"
#include "models/composite.hpp"
#include "models/latent_views.hpp"
#include "training/best_start.hpp"

namespace covary {
namespace {

constexpr Index usual_starts = 2;
constexpr double first_variance = 0.05;  // of trained Σx, to that of the column
constexpr double first_spread = 0.5;     // of q(x), to Σx

// Checked, a row for each of N.
RowMatrix variances_of(const RowMatrix& given, Index N, Index D) {
  if (given.cols() != D || (given.rows() != 1 && given.rows() != N))
    throw InputError(fmt::format(
        "the variances of the inputs are {}×{}; they are one row of {} columns, or {} rows",
        given.rows(), given.cols(), D, N));
  for (Index i = 0; i < given.rows(); ++i)
    for (Index d = 0; d < D; ++d)
      if (!(given(i, d) >= 0.0) || !std::isfinite(given(i, d)))
        throw InputError(fmt::format(
            "the variance of input {} of row {} is {}; it must be finite and not negative", d, i,
            given(i, d)));
  return given.rows() == N ? given : RowMatrix(given.replicate(N, 1));
}

}  // namespace

void UncertainInputsOptions::check() const {
  if (inducing < 0)
    throw InputError(fmt::format("inducing is {}; it must be at least 1, or 0 for {}", inducing,
                                 usual_latent_inducing));
  if (!(jitter >= 0.0) || !std::isfinite(jitter))
    throw InputError(fmt::format("jitter must be finite and not negative, got {}", jitter));
  if (held_iterations < 0)
    throw InputError(fmt::format("held_iterations must not be negative, got {}", held_iterations));
  if (!move_inputs && (input_variance.size() == 0 || train_variance))
    throw InputError(
        "--hold-inputs needs given error variances of the inputs and cannot train them");
  training.check();
}

UncertainInputsRegression::UncertainInputsRegression(ConstRows X, ConstRows Y,
                                                     UncertainInputsOptions options)
    : options_(std::move(options)) {
  options_.check();
  if (options_.inducing == 0) options_.inducing = usual_latent_inducing;
  const Index N = X.rows(), D = X.cols();
  if (N != Y.rows()) throw InputError(fmt::format("X has {} rows, Y {}", N, Y.rows()));
  if (N == 0 || D == 0) throw InputError("a regression needs rows and input columns");
  for (Index i = 0; i < N; ++i)
    if (!X.row(i).allFinite())
      throw InputError(
          fmt::format("X has a non-finite value in row {}; inputs with errors are known up to "
                      "these, and missing ones are for MissingInputsRegression",
                      i));
  ScalingFit in = fit_scaling(X, options_.scale_inputs), y = fit_scaling(Y, options_.scale_outputs);
  warnings_ = std::move(in.warnings);
  warnings_.insert(warnings_.end(), y.warnings.begin(), y.warnings.end());
  X_ = in.scaling.apply(X);
  Y_ = y.scaling.apply(Y);
  log_jacobian_ = y.scaling.log_jacobian(Y);
  inputs_ = std::move(in.scaling);
  outputs_ = std::move(y.scaling);

  const RowMatrix& given = options_.input_variance;
  column_variance_ = Vector::Ones(D);
  if (given.size() == 0) {
    options_.train_variance = true;
    shares_ = RowMatrix::Ones(N, D);
    for (Index d = 0; d < D; ++d) {
      const double variance = (X_.col(d).array() - X_.col(d).mean()).square().mean();
      if (variance > 0.0)
        column_variance_(d) = first_variance * variance;
      else
        shares_.col(d).setZero();  // a constant column says nothing, and is as good as known
    }
    return;
  }
  shares_ = variances_of(given, N, D);
  for (Index d = 0; d < D; ++d) {
    shares_.col(d) /= inputs_.scale(d) * inputs_.scale(d);
    const double mean = shares_.col(d).mean();
    if (!(mean > 0.0)) continue;
    column_variance_(d) = mean;
    shares_.col(d) /= mean;
  }
}

// With q(x) around the inputs as they were observed.
Gplvm UncertainInputsRegression::latent_model(Index inducing) const {
  const Index N = X_.rows(), D = X_.cols();
  GplvmOptions g = mapping_options(options_);
  g.latent = D;
  g.inducing = inducing;
  g.given = (shares_.array() > 0.0).select(std::numeric_limits<double>::quiet_NaN(), X_.array());
  g.prior_mean = X_;
  g.prior_variance = column_variance_;
  g.prior_shares = shares_;
  g.train_prior_variance = options_.train_variance;
  g.start_mean = X_;
  g.held_iterations = 0;  // find_start() has held what is to be held
  g.training.starts = 1;
  Gplvm model(Y_, g);
  Parameters& p = model.parameters();
  std::vector<double> spread;
  for (Index i = 0; i < N; ++i)
    for (Index d = 0; d < D; ++d)
      if (shares_(i, d) > 0.0)
        spread.push_back((options_.move_inputs ? first_spread : 1.0) * column_variance_(d) *
                         shares_(i, d));
  if (!spread.empty())
    p.set("latent.variance",
          Eigen::Map<const Vector>(spread.data(), static_cast<Index>(spread.size())));
  if (!options_.move_inputs) p.fix("latent");
  return model;
}

Parameters& UncertainInputsRegression::parameters() {
  if (parameters_.size() == 0) parameters_ = chosen_ = latent_model(options_.inducing).parameters();
  return parameters_;
}

// Noise of the inputs and of the outputs may stand for each other. From each start the noise is
// held until q(x) has found its place, and then everything moves for a while.
void UncertainInputsRegression::find_start(Gplvm& model, Trainer& trainer) const {
  const Parameters given = model.parameters();
  const Parameter& noise = given.at("likelihood.variance");
  const Index starts = !noise.trainable || !noise.tied_to.empty() ? 1
                       : options_.training.starts                 ? options_.training.starts
                                                                  : usual_starts,
              brief = std::min(options_.training.max_iterations, options_.held_iterations);
  if (brief == 0 || !given.contains("latent.mean")) return;
  const double least =
      noise.transform.kind() == Transform::Kind::bounded ? noise.transform.low() : 0.0;
  Jitter jitter{options_.jitter};
  Parameters& p = model.parameters();
  best_start(
      trainer, 0, starts,
      [&](Index start) {
        if (start > 0)
          p.set("likelihood.variance",
                least + std::pow(0.1, static_cast<double>(start)) * (noise.value(0) - least));
        options_.training.say(
            fmt::format("start {}: {} iterations with the noise held, and as many with everything",
                        start, brief));
        const Problem problem = model.problem(jitter);
        trainer.minimise_held(
            problem, [](const std::string& path) { return path.starts_with("likelihood"); },
            {brief});
        return trainer.minimise(problem, {brief});
      },
      p, jitter);
}

UncertainInputsFit UncertainInputsRegression::fit() const {
  Trainer trainer(options_.training, resume_);
  options_.training.say("a sparse regression of the inputs as they were observed comes first");
  const UserSettings user(chosen_, parameters_);
  const RegressionFit first = fit_plain(X_, Y_, plain_options(options_, X_.rows()), user, trainer);
  Gplvm model = latent_model(first.parameters.at("features.Z").value.size() / X_.cols());
  user.give(model.parameters());
  start_mapping(model.parameters(), first, true);
  find_start(model, trainer);
  GplvmFit fit = model.fit(trainer);
  trainer.complete(fit.summary);
  RegressionFit regression = as_regression(fit, inputs_, outputs_, log_jacobian_, warnings_);
  regression.model = "noisy_inputs";
  const Vector variance = fit.parameters.contains("inputs.variance")
                              ? fit.parameters.at("inputs.variance").value
                              : column_variance_;
  const bool of_rows = options_.input_variance.rows() > 1;
  const RowMatrix own = (of_rows ? shares_ : RowMatrix(shares_.topRows(1))) * variance.asDiagonal();
  return {std::move(regression), inputs_.undo(fit.mean), inputs_.undo_variance(fit.variance),
          inputs_.undo_variance(own)};
}

}  // namespace covary
