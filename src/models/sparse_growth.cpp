// How many inducing variables a sparse model takes.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "covary/error.hpp"
#include "models/row_summaries.hpp"
#include "models/sparse_regression_impl.hpp"

namespace covary {

SparseProblem SparseRegression::Impl::vfe_problem(const Sweep& sweep) const {
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
Certificate SparseRegression::Impl::bracket() const {
  const Sweep sweep = Sweep::for_features(*rows_, features_->size());
  Jitter jitter{options_.jitter};
  return certify(vfe_problem(sweep), unpack(parameters_.values()), jitter,
                 {options_.certificate_flops, options_.certificate_iterations});
}

bool SparseRegression::Impl::looks_for_number() const {
  return options_.inducing == 0 && options_.Z.size() == 0 && !settings_->holds("features.Z");
}

Minimum SparseRegression::Impl::grow(Trainer& trainer, Jitter& jitter) {
  const Index first = std::min(first_inducing, options_.most_inducing);
  if (features_->size() > first) choose_features(first);  // of a fit before
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
std::string SparseRegression::Impl::find_number(Trainer& trainer, Jitter& jitter) {
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

Index SparseRegression::Impl::brief() const {
  return std::min<Index>(options_.training.max_iterations, 40);
}

// A second start, from the parameters as they were given: the better one is kept, and two that
// differ by more than the bracket are worth a warning.
void SparseRegression::Impl::second_opinion(const Parameters& given, Index iterations,
                                            Trainer& trainer, Minimum& best) {
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
