// How a sparse model finds a good optimum: parameters from an exact fit of some rows, inducing
// inputs where those parameters leave most variance, then all together.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <optional>
#include <utility>

#include "covary/error.hpp"
#include "covary/random/random.hpp"
#include "models/choose_again.hpp"
#include "models/restored.hpp"
#include "models/row_summaries.hpp"
#include "models/sparse_regression_impl.hpp"
#include "models/starts.hpp"

namespace covary {

// The parameters without those of the features, as an exact model has them.
Parameters SparseRegression::Impl::exact_parameters() const {
  Parameters out;
  for (Parameter p : parameters_.all())
    if (!p.path.starts_with("features.")) {
      p.tied_to.clear();
      out.add(std::move(p));
    }
  for (const Parameter& p : parameters_.all())
    if (!p.tied_to.empty()) out.tie(p.path, p.tied_to, p.ratio);
  return out;
}

// The mean negative log density of y, in model units, over rows of which few were in the subset.
double SparseRegression::Impl::held_out_score(const Posterior& posterior) const {
  const auto rows =
      sample_rows(X_.rows(), std::min<Index>(X_.rows(), 1000), Random(options_.seed, 0x9a2d));
  const Prediction p = posterior.predict(X_(rows, Eigen::all));
  double sum = 0.0, count = 0.0;
  for (Index i = 0; i < p.mean.rows(); ++i)
    for (Index k = 0; k < p.mean.cols(); ++k) {
      const Index row = rows[static_cast<std::size_t>(i)];
      if (std::isnan(Y_(row, k))) continue;
      const double v = p.variance_y(i, k) + (point_noise_.size() ? point_noise_(row) : 0.0);
      const double e = Y_(row, k) - p.mean(i, k);
      sum += 0.5 * (e * e / v + std::log(2.0 * std::numbers::pi * v));
      count += 1.0;
    }
  return sum / count;
}

// What few inducing variables cannot resolve is noise to them, and that of an exact fit of some
// rows may be orders of magnitude too small: from there the bound has no way up that L-BFGS finds.
// Noise is raised for as long as the bound rises.
void SparseRegression::Impl::raise_noise() {
  const std::string path = "likelihood.variance";
  const Parameter& p = parameters_.at(path);
  if (!p.trainable || !p.tied_to.empty()) return;
  for (double before = bound();;) {
    const Vector value = parameters_.at(path).value;
    if (value.maxCoeff() > 1.0) return;
    if (p.transform.kind() == Transform::Kind::bounded && 4.0 * value(0) >= p.transform.high())
      return;
    parameters_.set(path, 4.0 * value);
    const double there = bound();
    if (!(there > before)) {
      parameters_.set(path, value);
      return;
    }
    before = there;
  }
}

// Several starts on few rows find the valley; more rows find its floor.
void SparseRegression::Impl::start_from_subset(Trainer& trainer) {
  const Index N = X_.rows(), most = std::min(N, options_.subset);
  const Blocks found =
      trainer
          .once("subset",
                [&]() -> Trainer::Found {
                  for (const Index rows : {std::min<Index>(most, 512), most}) {
                    const bool first = rows == std::min<Index>(most, 512);
                    const auto chosen = sample_rows(N, rows, Random(options_.seed, 0x5eed));
                    RegressionOptions o;
                    o.kernel = options_.kernel;
                    o.mean = options_.mean;
                    o.scale_inputs = o.scale_outputs = ScaleMode::none;
                    o.jitter = options_.jitter;
                    o.seed = options_.seed;
                    o.standard_errors = Switch::off;
                    o.training.starts = !first                     ? 1
                                        : options_.training.starts ? options_.training.starts
                                                                   : 3;
                    o.training.max_iterations = first ? 200 : 50;
                    o.training.gradient_tolerance = 1e-4;
                    o.training.stop = [&] { return trainer.wants_to_stop(); };
                    Regression model(X_(chosen, Eigen::all), Y_(chosen, Eigen::all), o,
                                     point_noise_.size() ? Vector(point_noise_(chosen)) : Vector());
                    model.parameters() = exact_parameters();
                    say(fmt::format("start: an exact fit of {} of {} rows", rows, rows_->rows()));
                    try {
                      const RegressionFit fitted = model.fit();
                      for (const Parameter& p : fitted.parameters.all())
                        if (p.trainable && p.tied_to.empty()) parameters_.set(p.path, p.value);
                      if (rows == most && rows < N) guard_ = held_out_score(fitted.posterior);
                    } catch (const NumericalError& e) {
                      say(fmt::format("the exact fit of {} rows failed ({}); its start is kept",
                                      rows, e.what()));
                    }
                    if (rows == most) break;
                  }
                  return {
                      {parameters_.values(), guard_ ? Matrix::Constant(1, 1, *guard_) : Matrix()}};
                })
          .blocks;
  parameters_.set_values(found[0].reshaped());
  if (found[1].size()) guard_ = found[1](0);
  if (options_.Z.size() == 0) choose_features(features_->size());
}

Problem SparseRegression::Impl::problem(Jitter& jitter) {
  return {&parameters_, &jitter, [this, &jitter](ConstVector values, Vector* bar) {
            return std::optional(evaluate(values, jitter, bar).value);
          }};
}

// With Z held, then chosen again at the parameters found if that does not lower the bound, then all
// together.
Minimum SparseRegression::Impl::train_once(Trainer& trainer, Jitter& jitter) {
  if (options_.subset > 0 && !choose_start_of_sums(trainer, jitter)) raise_noise();
  std::optional<Summary> before;
  if (options_.subset > 0 && options_.Z.size() == 0 && options_.features.is_points() &&
      trains_features() && !settings_->holds_any()) {
    const auto first = trainer.minimise_held(
        problem(jitter), [](const std::string& path) { return path == "features.Z"; },
        {std::min<Index>(options_.training.max_iterations / 2, 15)});
    if (first) before = first->summary;
    const FeaturesPtr features = features_;
    const Parameters parameters = parameters_;
    choose_again([this] { return bound(); },
                 [&] {
                   choose_features(features->size());
                   return features_->size() == features->size();
                 },
                 [&] {
                   features_ = features;
                   parameters_ = parameters;
                 });
    jitter = Jitter{options_.jitter};
  }
  return trainer.minimise(problem(jitter), Trainer::rest_of(options_.training, std::move(before)));
}

Minimum SparseRegression::Impl::train(Trainer& trainer, Jitter& jitter) {
  if (looks_for_number())
    return parameters_.contains("features.sd") ? grow_by_plan(trainer, jitter)
                                               : grow(trainer, jitter);
  if (options_.subset > 0) start_from_subset(trainer);
  return options_.placement == Placement::expected_kl ? train_placed(trainer, jitter)
         : options_.warm_start                        ? train_warm(trainer, jitter)
                                                      : train_once(trainer, jitter);
}

// Where no exact fit of some rows makes the start, the first is the parameters as they are and the
// others lie around it.
Minimum SparseRegression::Impl::train_from_starts(Trainer& trainer, Jitter& jitter) {
  const Index starts = options_.subset > 0 ? 1 : std::max<Index>(1, options_.training.starts);
  if (starts == 1) return train(trainer, jitter);
  const Parameters given = parameters_;
  const FeaturesPtr features = features_;
  Parameters best_parameters;
  FeaturesPtr best_features;
  Jitter best_jitter;
  Minimum best = trainer.best_of(
      0, starts,
      [&](Index start) {
        features_ = features;
        parameters_ = given;
        jitter = Jitter{options_.jitter};
        if (start > 0)
          parameters_.set_values(
              parameters_.constrain(perturbed_start(given, start, options_.seed)));
        return train(trainer, jitter);
      },
      [&] {
        best_parameters = parameters_;
        best_features = features_;
        best_jitter = jitter;
      });
  parameters_ = std::move(best_parameters);
  features_ = std::move(best_features);
  jitter = best_jitter;
  return best;
}

// By another approximation first. FITC finds structure that VFE, which pays for what M inducing
// inputs cannot resolve, would take for noise.
Minimum SparseRegression::Impl::train_warm(Trainer& trainer, Jitter& jitter) {
  {
    const Restored own(options_.approximation);
    options_.approximation = *options_.warm_start;
    say(fmt::format("warm start: training with {} first", options_.approximation.print()));
    train_once(trainer, jitter);
  }
  jitter = Jitter{options_.jitter};
  return trainer.minimise(problem(jitter));
}

}  // namespace covary
