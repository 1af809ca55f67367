// How a sparse model finds a good optimum: parameters from an exact fit of some rows, inducing
// inputs where those parameters leave most variance, then all together; and how many it takes.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

#include "covary/error.hpp"
#include "covary/models/sparse_regression.hpp"
#include "covary/random/random.hpp"
#include "models/feature_settings.hpp"
#include "models/restored.hpp"
#include "models/row_summaries.hpp"

namespace covary {
// The parameters without those of the features, as an exact model has them.
Parameters SparseRegression::exact_parameters() const {
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
double SparseRegression::held_out_score(const Posterior& posterior) const {
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
void SparseRegression::raise_noise() {
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
void SparseRegression::start_from_subset(Trainer& trainer) {
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

Problem SparseRegression::problem(Jitter& jitter) {
  return {&parameters_, &jitter, [this, &jitter](ConstVector values, Vector* bar) {
            return std::optional(evaluate(values, jitter, bar).value);
          }};
}

// With Z held, then chosen again at the parameters found if that does not lower the bound, then all
// together.
Minimum SparseRegression::train_once(Trainer& trainer, Jitter& jitter) {
  if (options_.subset > 0 && !choose_start_of_sums(trainer, jitter)) raise_noise();
  const bool choose_again =
      options_.features.is_points() && trains_features() && !settings_->holds_any();
  if (choose_again && options_.Z.size() == 0 && options_.subset > 0) {
    parameters_.fix("features.Z");
    if (parameters_.free_size() > 0)
      trainer.minimise(problem(jitter), {std::min<Index>(options_.training.max_iterations, 15)});
    parameters_.unfix("features.Z");
    const double before = bound();
    const FeaturesPtr features = features_;
    const Parameters parameters = parameters_;
    choose_features(features_->size());
    if (features_->size() != features->size() || bound() < before) {
      features_ = features;
      parameters_ = parameters;
    }
    jitter = Jitter{options_.jitter};
  }
  return trainer.minimise(problem(jitter));
}

// By another approximation first. FITC finds structure that VFE, which pays for what M inducing
// inputs cannot resolve, would take for noise.
Minimum SparseRegression::train_warm(Trainer& trainer, Jitter& jitter) {
  {
    const Restored own(options_.approximation);
    options_.approximation = *options_.warm_start;
    say(fmt::format("warm start: training with {} first", options_.approximation.print()));
    train_once(trainer, jitter);
  }
  jitter = Jitter{options_.jitter};
  return trainer.minimise(problem(jitter));
}

SparseProblem SparseRegression::vfe_problem(const Sweep& sweep) const {
  return {Approximation::Kind::vfe,
          features_.get(),
          &options_.kernel,
          &options_.mean,
          &sweep,
          columns_,
          options_.route};
}

// The evidence lies between the bound and this, in model units; by conjugate gradients where the
// budget allows, else by the trace.
Certificate SparseRegression::bracket() const {
  const Sweep sweep = Sweep::for_features(*rows_, features_->size());
  Jitter jitter{options_.jitter};
  return certify(vfe_problem(sweep), unpack(parameters_.values()), jitter,
                 {options_.certificate_flops, options_.certificate_iterations});
}

bool SparseRegression::looks_for_number() const {
  return options_.inducing == 0 && options_.Z.size() == 0 && !settings_->holds("features.Z");
}

Minimum SparseRegression::grow(Trainer& trainer, Jitter& jitter) {
  if (features_->size() > first_inducing) choose_features(first_inducing);  // of a fit before
  const Parameters given = parameters_;
  std::string reason;
  if (options_.features.is_points()) {
    // The parameters say how many there are and where.
    const auto found = trainer.once("number", [&]() -> Trainer::Found {
      const std::string why = find_number(trainer, jitter);
      return {{parameters_.values(), guard_ ? Matrix::Constant(1, 1, *guard_) : Matrix()}, why};
    });
    const Index entries =
        found.blocks[0].size() - (parameters_.size() - features_->parameter_count());
    if (entries != features_->parameter_count())
      set_inputs(RowMatrix::Zero(entries / X_.cols(), X_.cols()));
    parameters_.set_values(found.blocks[0].reshaped());
    if (found.blocks[1].size()) guard_ = found.blocks[1](0);
    reason = found.note;
  } else {
    reason = find_number(trainer, jitter);
  }
  jitter = Jitter{options_.jitter};
  Minimum best = trainer.minimise(problem(jitter));
  best.summary.reason = reason + "; " + best.summary.reason;
  second_opinion(given, brief(), trainer, best);
  return best;
}

// M grows by half until the bracket is narrow and more inducing inputs gain nothing; says which of
// the reasons ended it.
std::string SparseRegression::find_number(Trainer& trainer, Jitter& jitter) {
  const double N = static_cast<double>(rows_->rows()), floor = noise_only_evidence(*rows_);
  if (options_.subset > 0) start_from_subset(trainer);
  double before = -std::numeric_limits<double>::infinity();
  for (;;) {
    jitter = Jitter{options_.jitter};
    trainer.minimise(problem(jitter), {brief()});
    const Index M = features_->size();
    const double value = bound();
    const Certificate gap = bracket();
    const double width = gap.upper - value, gain = value - before;
    const bool narrow = width <= options_.bracket * N || width <= 0.05 * (value - floor);
    const bool settled = gain < options_.bracket * N;
    say(fmt::format(
        "M = {}: bound {:.4f} per row, bracket {:.4f} per row ({}), gain {:.4f} per row", M,
        value / N, width / N, gap.method, gain / N));
    if (narrow && settled && value > floor) {
      return fmt::format(
          "M = {}: the bracket is {:.2g} nats a row and half as many more inducing "
          "inputs gained {:.2g}",
          M, width / N, gain / N);
    }
    const Index next = std::min({(3 * M + 1) / 2, X_.rows(), options_.most_inducing});
    if (next == M) {
      return M == X_.rows()
                 ? fmt::format("M = {}: an inducing input for every row{}", M,
                               X_.rows() < rows_->rows() ? " kept in memory" : "")
                 : fmt::format(
                       "M = {}: the limit of inducing inputs; the bracket is {:.2g} nats a row", M,
                       width / N);
    }
    if (trainer.wants_to_stop()) return fmt::format("M = {}: stopped", M);
    before = value;
    choose_features(next);
    if (features_->size() <= M)  // the data have no more to give
      return fmt::format("M = {}: more inducing inputs would say nothing new", features_->size());
  }
}

Index SparseRegression::brief() const {
  return std::min<Index>(options_.training.max_iterations, 40);
}

// A second start, from the parameters as they were given: the better one is kept, and two that
// differ by more than the bracket are worth a warning.
void SparseRegression::second_opinion(const Parameters& given, Index iterations, Trainer& trainer,
                                      Minimum& best) {
  if (trainer.wants_to_stop()) return;
  const FeaturesPtr features = features_;
  const Parameters first = parameters_;
  const double value = bound();
  say("a second start, as a check");
  for (const Parameter& p : given.all())
    if (!p.path.starts_with("features.") && p.trainable && p.tied_to.empty())
      parameters_.set(p.path, p.value);
  choose_features(features->size());
  Jitter jitter{options_.jitter};
  Minimum other;
  try {
    other = trainer.minimise(problem(jitter), {iterations});
  } catch (const NumericalError&) {
    other.state.value = std::numeric_limits<double>::infinity();
  }
  const double theirs =
      std::isfinite(other.state.value) ? bound() : -std::numeric_limits<double>::infinity();
  const bool better = theirs > value;
  if (!better) {
    features_ = features;
    parameters_ = first;
  }
  const Certificate gap = bracket();
  if (better) {
    other.summary.reason = best.summary.reason + "; a second start did better and is kept";
    other.summary.warnings = best.summary.warnings;
    best = std::move(other);
  }
  const double limit =
      std::max(gap.upper - bound(), options_.bracket * static_cast<double>(rows_->rows()));
  if (std::abs(theirs - value) > limit)
    best.summary.warnings.push_back(fmt::format(
        "two starts ended {:.4g} nats apart, more than the bracket of {:.4g}: there may be "
        "a better optimum; try --restarts or another --seed",
        std::abs(theirs - value), limit));
}

}  // namespace covary
