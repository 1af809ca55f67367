// How an SVGP is trained: all rows at once by L-BFGS with q at its optimum, or by minibatches
// (svgp_batches.cpp); and what comes of it.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>

#include "covary/error.hpp"
#include "covary/features/warnings.hpp"
#include "covary/models/svgp.hpp"

namespace covary {
namespace {

using Clock = std::chrono::steady_clock;
double seconds_since(Clock::time_point began) {
  return std::chrono::duration<double>(Clock::now() - began).count();
}

}  // namespace

// Where training begins, or where it is taken up again.
SvgpState Svgp::first_state() {
  SvgpState state;
  state.q = prior();
  state.jitter = Jitter{options_.jitter};
  if (!resume_) return state;
  const Matrix& m = resume_->q.q().m;
  const bool batches = batch_ != rows_->rows();
  const Index entries = batches                 ? resume_->adam ? resume_->adam->u.size() : -1
                        : resume_->restarts.run ? resume_->restarts.run->u.size()
                                                : -1;
  if (m.rows() != inducing() || m.cols() != latents() || entries != parameters_.free_size() ||
      resume_->q.form() != options_.covariance)
    throw InputError(fmt::format(
        "the state to be resumed has {} parameters, {} inducing variables and {} functions; the "
        "model, trained by {}, has {}, {} and {}",
        entries, m.rows(), m.cols(), batches ? "minibatches" : "L-BFGS", parameters_.free_size(),
        inducing(), latents()));
  state = std::move(*resume_);
  resume_.reset();
  return state;
}

Minimum Svgp::train_rows(const LbfgsOptions& training, SvgpState& state, bool tell) {
  LbfgsOptions options = training;
  Jitter& jitter = state.jitter;
  if (!options.objective_changed)
    options.objective_changed = [&jitter] { return std::exchange(jitter.raised, false); };
  const Objective f = [&](const Vector& u, Vector* g) { return objective(u, g, jitter, state.q); };
  RestartsState from = std::exchange(state.restarts, {});
  std::function<void(const RestartsState&)> after;
  if (options_.after_iteration && tell)
    after = [&](const RestartsState& s) {
      state.restarts = s;
      options_.after_iteration(state);
    };
  Minimum best = minimise_with_restarts(
      f, parameters_.flatten(), 1, [&](Index) { return parameters_.flatten(); }, options,
      std::move(from), after);
  parameters_.set_values(parameters_.constrain(best.state.u));
  return best;
}

// With Z held, then Z chosen again at the parameters found if that does not lower the bound, then
// all together.
Summary Svgp::train_full(SvgpState& state) {
  if (options_.Z.size() == 0 && trains_features() && !state.restarts.run) {
    const Parameters given = parameters_;
    std::vector<std::string> held;
    for (const Parameter& p : given.all())
      if (is_feature(p) && p.trainable) held.push_back(p.path);
    for (const auto& path : held) parameters_.fix(path);
    LbfgsOptions first = options_.training;
    first.max_iterations = std::min<Index>(first.max_iterations, 15);
    if (parameters_.free_size() > 0) train_rows(first, state, false);
    for (const auto& path : held) parameters_.unfix(path);
    if (options_.features.is_points() && looks_at_parameters(options_.selection) &&
        !options_.separate_kernels) {
      const auto features = features_;
      const Parameters found = parameters_;
      const Index M = inducing();
      const double before = elbo();
      choose_features(M);
      if (inducing() != M || elbo() < before) {
        features_ = features;
        parameters_ = found;
      } else {
        state.q = prior();
      }
    }
    state.jitter = Jitter{options_.jitter};
  }
  Minimum best = train_rows(options_.training, state, true);
  best.summary.negate_values();
  return best.summary;
}

GeneralisedFit Svgp::fit() {
  const auto began = Clock::now();
  Summary summary;
  const bool train = options_.training.max_iterations > 0 && parameters_.free_size() > 0;
  const bool full = batch_ == rows_->rows();
  SvgpState state = first_state();
  const double before = state.seconds + state.restarts.seconds +
                        (state.restarts.run ? state.restarts.run->seconds : 0.0);
  QOptions last = q_options();
  if (!train) {
    summary.reason = "evaluated at the given parameters";
    summary.evaluations = 1;
  } else if (full) {
    summary = train_full(state);
  } else {
    summary = train_batches(state);
    last.max_iterations = std::max<Index>(1, options_.final_sweeps);
    last.conjugate = last.conjugate && options_.final_sweeps > 0;
  }

  if (train && !full && options_.final_sweeps == 0) last.tolerance = 1e300;  // q stays as it is
  QOptimum best = maximise(parameters_.values(), state.q, state.jitter, nullptr, last);
  if (!best.converged && (full || !train))
    summary.warnings.push_back(fmt::format(
        "q did not settle in {} steps (it still moves by {:.2g}); the bound holds all the same",
        best.iterations, best.distance));

  for (auto& p : summary.trace) p.value -= log_jacobian_;
  for (auto& s : summary.starts)
    if (s.value) *s.value -= log_jacobian_;
  summary.initial_value -= log_jacobian_;
  summary.value = best.at.value - log_jacobian_;
  summary.jitter = best.at.jitter;
  summary.seconds = before + seconds_since(began);
  GeneralisedFit out =
      described(parameters_, state.q.q(), std::move(best.at.Luu), std::move(summary));
  out.diagnostics.insert(out.diagnostics.end(), {{"fit", best.at.fit - log_jacobian_},
                                                 {"kl", best.at.kl},
                                                 {"q_steps", static_cast<double>(best.iterations)},
                                                 {"q_distance", best.distance}});
  return out;
}

GeneralisedFit Svgp::at(const SvgpState& state) const {
  if (!state.adam && !state.restarts.run)
    throw InputError("a model is looked at after a step of its training; there was none yet");
  Parameters parameters = parameters_;
  parameters.set_values(parameters.constrain(state.adam ? state.adam->u : state.restarts.run->u));
  const Unpacked values = unpack(parameters.values());
  const Sweep sweep(*rows_, 128);
  Jitter jitter = state.jitter;
  std::vector<Matrix> Luu;
  for (Cholesky& c : factor_parts(problem(sweep, values.likelihood, false), values.values, jitter))
    Luu.push_back(std::move(c.L));
  Summary summary;
  summary.reason = "training is under way";
  summary.value = -(state.adam ? state.adam->mean : state.restarts.run->value) - log_jacobian_;
  summary.iterations = state.adam ? state.step : state.restarts.run->iterations;
  summary.jitter = jitter.added;
  summary.seconds = state.seconds;
  return described(parameters, state.q.q(), std::move(Luu), std::move(summary));
}

GeneralisedFit Svgp::described(const Parameters& parameters, const WhitenedGaussian& q,
                               std::vector<Matrix> Luu, Summary summary) const {
  summary.objective = "elbo";
  summary.route = batch_ == rows_->rows()
                      ? fmt::format("all {} rows, q at its optimum ({})", rows_->rows(),
                                    options_.covariance.print())
                      : fmt::format("minibatches of {} of {} rows, natural gradients for q ({})",
                                    batch_, rows_->rows(), options_.covariance.print());
  summary.warnings.insert(summary.warnings.begin(), warnings_.begin(), warnings_.end());
  const Vector values = parameters.values();
  const Unpacked at = unpack(values);
  for (std::size_t i = 0; i < features_.size(); ++i)
    for (auto& line :
         feature_warnings(*features_[i], options_.kernel, at.values.theta[i], at.values.z[i], X_))
      summary.warnings.push_back(std::move(line));
  InducingPosteriorParts parts;
  for (std::size_t i = 0; i < features_.size(); ++i)
    parts.parts.push_back({options_.kernel, at.values.theta[i], features_[i], at.values.z[i],
                           std::move(Luu[i]), summary.jitter});
  parts.mean = options_.mean;
  parts.mean_weights = at.values.mean_weights;
  parts.q = whole(q);
  const double value = summary.value;
  GeneralisedFit out{"svgp",
                     InducingPosterior(std::move(parts)),
                     options_.likelihood,
                     at.likelihood,
                     input_scaling_,
                     output_scaling_,
                     parameters,
                     std::move(summary),
                     value,
                     parameters.log_prior(values),
                     options_.classes,
                     {},
                     {},
                     rows_->rows()};
  out.input_map = input_map_;
  out.diagnostics = {{"inducing", static_cast<double>(inducing())},
                     {"batch", static_cast<double>(batch_)}};
  return out;
}

}  // namespace covary
