// How an SVGP is trained: all rows at once by L-BFGS with q at its optimum, or minibatches by
// natural gradients for q and Adam for the rest.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>

#include "covary/error.hpp"
#include "covary/linalg/blas.hpp"
#include "covary/models/svgp.hpp"
#include "models/batches.hpp"
#include "models/restored.hpp"

namespace covary {
namespace {

using Clock = std::chrono::steady_clock;
double seconds_since(Clock::time_point began) {
  return std::chrono::duration<double>(Clock::now() - began).count();
}

// A step takes a dozen M×M matrices from the allocator. That of glibc returns such blocks to the
// system at once, until it has seen a larger one freed; the page faults were a fifth of a step.
void keep_freed_memory() {
  Vector large(Index{3} << 20);
  large(0) = 1.0;
  volatile double used = large(0);
  static_cast<void>(used);
}

}  // namespace

Minimum Svgp::train_rows(const LbfgsOptions& training, NaturalGaussian& q, Jitter& jitter,
                         bool tell) {
  LbfgsOptions options = training;
  if (!options.objective_changed)
    options.objective_changed = [&jitter] { return std::exchange(jitter.raised, false); };
  const Objective f = [&](const Vector& u, Vector* g) { return objective(u, g, jitter, q); };
  std::function<void(const RestartsState&)> after;
  if (options_.after_iteration && tell)
    after = [&](const RestartsState& s) { options_.after_iteration({s, {}, q.q(), jitter}); };
  Minimum best = minimise_with_restarts(
      f, parameters_.flatten(), 1, [&](Index) { return parameters_.flatten(); }, options, {},
      after);
  parameters_.set_values(parameters_.constrain(best.state.u));
  return best;
}

// With Z held, then Z chosen again at the parameters found if that does not lower the bound, then
// all together.
Summary Svgp::train_full(NaturalGaussian& q, Jitter& jitter) {
  const std::string Z = path_of(0, "features.Z");
  if (options_.Z.size() == 0 && parameters_.at(Z).trainable) {
    const Parameters given = parameters_;
    std::vector<std::string> held;
    for (const Parameter& p : given.all())
      if (p.path.ends_with("features.Z") && p.trainable) held.push_back(p.path);
    for (const auto& path : held) parameters_.fix(path);
    LbfgsOptions first = options_.training;
    first.max_iterations = std::min<Index>(first.max_iterations, 15);
    if (parameters_.free_size() > 0) train_rows(first, q, jitter, false);
    for (const auto& path : held) parameters_.unfix(path);
    if (looks_at_parameters(options_.selection) && !options_.separate_kernels) {
      const auto features = features_;
      const Parameters found = parameters_;
      const Index M = inducing();
      const double before = elbo();
      choose_Z(M);
      if (inducing() != M || elbo() < before) {
        features_ = features;
        parameters_ = found;
      } else {
        q = prior();
      }
    }
    jitter = Jitter{options_.jitter};
  }
  Minimum best = train_rows(options_.training, q, jitter, true);
  best.summary.negate_values();
  return best.summary;
}

// A move that is large for q and for the noise of batches.
bool Svgp::is_large_step(const RowSource& rows, const UncollapsedGradient& of_q, double gamma,
                         const NaturalGaussian& q) const {
  if (q_options().conjugate) return false;
  const double share = static_cast<double>(rows_->rows()) / static_cast<double>(rows.rows());
  const double usual =
      std::sqrt(share * static_cast<double>(q.size() * latents()));  // of the noise, for γ = 1
  double move = 0.0;
  for (Index l = 0; l < latents(); ++l) {
    Matrix e = of_q.g.col(l) - q.q().m.col(l);
    multiply_lower(q.q().Ls[static_cast<std::size_t>(l)], e, Op::transpose);
    move += e.squaredNorm();
  }
  return gamma * std::sqrt(move) > std::max(2.0, 2.0 * gamma * usual);
}

// A natural-gradient step that is tried on its own batch: a log link from the prior to counts of
// hundreds would leap by exp of the error. Returns how often it was shortened.
Index Svgp::try_step(const RowSource& rows, double value, const Vector& u,
                     const UncollapsedGradient& of_q, double gamma, NaturalGaussian& q,
                     Jitter& jitter) const {
  const NaturalGaussian before = q;
  UncollapsedGradient unused;
  for (Index shortened = 0; shortened < 30; ++shortened, gamma *= 0.5) {
    if (q.step(of_q.g, of_q.H, gamma) >= 0) {
      const double there = batch_objective(u, rows, q, jitter, nullptr, unused);
      if (there <= value) return shortened;
    }
    q = before;
  }
  return 30;
}

// The bound of a batch with its gradient, and a natural-gradient step of q, which needs less of the
// gradient than the other parameters and is made beside them. `halvings` counts how often it was
// shortened.
double Svgp::batch_step(const RowSource& rows, const Vector& u, double gamma, NaturalGaussian& q,
                        Jitter& jitter, Vector* gradient, Index& halvings) const {
  UncollapsedGradient of_q;
  bool large = false;
  of_q.beside = [&](double value) {
    if (!std::isfinite(value)) return;
    large = is_large_step(rows, of_q, gamma, q);
    if (!large) halvings += std::abs(q.step(of_q.g, of_q.H, gamma));  // −1: none was possible
  };
  const double value = batch_objective(u, rows, q, jitter, gradient, of_q);
  if (large && std::isfinite(value)) halvings += try_step(rows, value, u, of_q, gamma, q, jitter);
  return value;
}

Summary Svgp::train_batches(NaturalGaussian& q, Jitter& jitter) {
  const auto began = Clock::now();
  Batches batches(*rows_, in_memory_, batch_, options_.seed);
  const Index steps = options_.steps    ? options_.steps
                      : options_.epochs ? options_.epochs * batches.per_pass()
                                        : std::clamp<Index>(20 * batches.per_pass(), 2000, 20000);
  AdamOptions options;
  options.learning_rate = options_.learning_rate;
  if (options.learning_rate.every == 0) options.learning_rate.every = steps;
  say(fmt::format("{} steps of minibatches of {} rows: {:.1f} passes over {} rows", steps, batch_,
                  static_cast<double>(steps) / static_cast<double>(batches.per_pass()),
                  rows_->rows()));
  Adam adam(parameters_.flatten(), options);
  keep_freed_memory();
  NaturalGaussian best_q = q;
  Vector gradient = Vector::Zero(parameters_.free_size());
  Summary summary;
  summary.reason = fmt::format("made {} steps of minibatches", steps);
  Index halvings = 0;
  const Index mark = std::max<Index>(1, steps / 100);
  // At first q alone: the gradients of the rest at a q far from its place are huge, and Adam would
  // remember them for a thousand steps.
  const Index hold = std::min(2 * options_.natural_ramp, steps / 5);
  const auto stopped = [&] {
    if (options_.training.stop && options_.training.stop())
      summary.reason = "stopped by the caller";
    else if (seconds_since(began) >= options_.training.max_seconds)
      summary.reason =
          fmt::format("the limit of {} seconds was reached", options_.training.max_seconds);
    else
      return false;
    return true;
  };
  bool whole = true;
  for (Index step = 0; step < steps; ++step) {
    if (stopped()) {
      whole = false;
      break;
    }
    const double ramp = step < options_.natural_ramp
                            ? std::pow(0.01, 1.0 - static_cast<double>(step) /
                                                       static_cast<double>(options_.natural_ramp))
                            : 1.0;
    std::optional<double> value;
    const bool held = step < hold;
    try {
      value = batches.with(step, [&](const RowSource& rows) {
        return batch_step(rows, adam.state().u, ramp * options_.natural_step, q, jitter,
                          held ? nullptr : &gradient, halvings);
      });
    } catch (const NumericalError& e) {
      say(fmt::format("step {} failed: {}", step, e.what()));
    }
    ++summary.iterations;
    if (step == 0) summary.initial_value = -value.value_or(0.0);
    if (held) {
      if (options_.after_iteration) options_.after_iteration({{}, adam.state(), q.q(), jitter});
      continue;
    }
    const Adam::Outcome outcome = adam.step(value, gradient);
    if (outcome == Adam::Outcome::best) best_q = q;
    if (outcome == Adam::Outcome::rolled_back || outcome == Adam::Outcome::given_up) q = best_q;
    if ((step - hold) % mark == 0 || step == steps - 1)
      summary.trace.push_back({step, -adam.state().mean,
                               gradient.size() ? gradient.cwiseAbs().maxCoeff() : 0.0,
                               seconds_since(began)});
    if (options_.after_iteration) options_.after_iteration({{}, adam.state(), q.q(), jitter});
    if (outcome == Adam::Outcome::given_up) {
      summary.reason = fmt::format("diverged again after {} rollbacks", options.most_rollbacks);
      whole = false;
      break;
    }
  }
  const AdamState& s = adam.state();
  parameters_.set_values(parameters_.constrain(s.u));
  summary.evaluations = summary.iterations;
  summary.rejected_evaluations = s.failures;
  summary.gradient_norm = summary.trace.empty() ? 0.0 : summary.trace.back().gradient_norm;
  if (const std::string w = adam.warning(); !w.empty()) summary.warnings.push_back(w);
  if (halvings > 0)
    say(fmt::format("natural-gradient steps were halved {} times to keep q in bounds", halvings));
  // Over the last quarter the mean rose by next to nothing: of the whole rise, or of its own noise.
  const auto& trace = summary.trace;
  if (whole && trace.size() >= 8) {
    const double rise = trace.back().value - trace[trace.size() * 3 / 4].value;
    const double noise = std::sqrt(s.variance / static_cast<double>(options.window));
    summary.converged =
        rise <= std::max(0.01 * (trace.back().value - trace.front().value), 2.0 * noise);
    if (!summary.converged)
      summary.reason += fmt::format("; the bound still rose by {:.3g} in the last quarter", rise);
  }
  return summary;
}

GeneralisedFit Svgp::fit() {
  const auto began = Clock::now();
  Jitter jitter{options_.jitter};
  NaturalGaussian q = prior();
  Summary summary;
  const bool train = options_.training.max_iterations > 0 && parameters_.free_size() > 0;
  const bool full = batch_ == rows_->rows();
  QOptions last = q_options();
  if (!train) {
    summary.reason = "evaluated at the given parameters";
    summary.evaluations = 1;
  } else if (full) {
    summary = train_full(q, jitter);
  } else {
    summary = train_batches(q, jitter);
    last.max_iterations = std::max<Index>(1, options_.final_sweeps);
    last.conjugate = last.conjugate && options_.final_sweeps > 0;
  }

  const Vector values = parameters_.values();
  QOptimum best;
  if (train && !full && options_.final_sweeps == 0) last.tolerance = 1e300;  // q stays as it is
  best = maximise(values, q, jitter, nullptr, last);
  if (!best.converged && (full || !train))
    summary.warnings.push_back(fmt::format(
        "q did not settle in {} steps (it still moves by {:.2g}); the bound holds all the same",
        best.iterations, best.distance));

  for (auto& p : summary.trace) p.value -= log_jacobian_;
  for (auto& s : summary.starts)
    if (s.value) *s.value -= log_jacobian_;
  summary.initial_value -= log_jacobian_;
  summary.objective = "elbo";
  summary.value = best.at.value - log_jacobian_;
  summary.jitter = best.at.jitter;
  summary.route = full ? fmt::format("all {} rows, q at its optimum ({})", rows_->rows(),
                                     options_.covariance.print())
                       : fmt::format("minibatches of {} of {} rows, natural gradients for q ({})",
                                     batch_, rows_->rows(), options_.covariance.print());
  summary.warnings.insert(summary.warnings.begin(), warnings_.begin(), warnings_.end());

  Unpacked at = unpack(values);
  InducingPosteriorParts parts;
  for (std::size_t i = 0; i < features_.size(); ++i)
    parts.parts.push_back({options_.kernel, at.values.theta[i], features_[i], at.values.z[i],
                           std::move(best.at.Luu[i]), best.at.jitter});
  parts.mean = options_.mean;
  parts.mean_weights = at.values.mean_weights;
  parts.q = q.q();
  summary.seconds = seconds_since(began);
  GeneralisedFit out{"svgp",
                     InducingPosterior(std::move(parts)),
                     options_.likelihood,
                     at.likelihood,
                     input_scaling_,
                     output_scaling_,
                     parameters_,
                     summary,
                     summary.value,
                     parameters_.log_prior(values),
                     options_.classes,
                     {},
                     {},
                     rows_->rows()};
  out.pca = pca_;
  out.diagnostics = {{"inducing", static_cast<double>(inducing())},
                     {"batch", static_cast<double>(batch_)},
                     {"fit", best.at.fit - log_jacobian_},
                     {"kl", best.at.kl},
                     {"q_steps", static_cast<double>(best.iterations)},
                     {"q_distance", best.distance}};
  return out;
}

}  // namespace covary
