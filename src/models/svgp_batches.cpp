// Training over minibatches: natural gradients for q and Adam for the rest.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>

#include "covary/error.hpp"
#include "covary/linalg/blas.hpp"
#include "covary/models/svgp.hpp"
#include "models/batches.hpp"

namespace covary {
namespace {

using Clock = std::chrono::steady_clock;

// A step takes a dozen M×M matrices from the allocator. That of glibc returns such blocks to the
// system at once, until it has seen a larger one freed; the page faults were a fifth of a step.
void keep_freed_memory() {
  Vector large(Index{3} << 20);
  large(0) = 1.0;
  volatile double used = large(0);
  static_cast<void>(used);
}

}  // namespace

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
    const Matrix& Ls = q.q().Ls[static_cast<std::size_t>(l)];
    if (q.q().is_thin())
      e = e.cwiseProduct(Ls).eval();
    else
      multiply_lower(Ls, e, Op::transpose);
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

Summary Svgp::train_batches(SvgpState& state) {
  const auto began = Clock::now();
  const double before = state.seconds;
  const auto seconds = [&] {
    return before + std::chrono::duration<double>(Clock::now() - began).count();
  };
  NaturalGaussian& q = state.q;
  Jitter& jitter = state.jitter;
  Batches batches(*rows_, in_memory_, batch_, options_.seed);
  const Index steps = options_.steps    ? options_.steps
                      : options_.epochs ? options_.epochs * batches.per_pass()
                                        : std::clamp<Index>(20 * batches.per_pass(), 2000, 20000);
  state.steps = steps;
  // At first q alone: the gradients of the rest at a q far from its place are huge, and Adam would
  // remember them for a thousand steps.
  const Index hold = std::min(2 * options_.natural_ramp, steps / 5);
  const Index moves = (steps - hold + options_.adam_every - 1) / options_.adam_every;
  AdamOptions options;
  options.learning_rate = options_.learning_rate;
  if (options.learning_rate.every == 0)
    options.learning_rate.every = (steps + options_.adam_every - 1) / options_.adam_every;
  say(fmt::format("{} steps of minibatches of {} rows: {:.1f} passes over {} rows", steps, batch_,
                  static_cast<double>(steps) / static_cast<double>(batches.per_pass()),
                  rows_->rows()));
  Adam adam =
      state.adam ? Adam(std::move(*state.adam), options) : Adam(parameters_.flatten(), options);
  // White inducing variables ask no more than the diagonal of a diagonal covariance.
  if (options_.covariance.kind == CovarianceForm::Kind::diagonal &&
      std::all_of(features_.begin(), features_.end(), [](const auto& f) { return f->is_white(); }))
    q.keep_diagonals();
  if (state.step == 0) state.best_q = q;
  keep_freed_memory();
  Vector gradient = Vector::Zero(parameters_.free_size());
  Summary summary;
  summary.reason = fmt::format("made {} steps of minibatches", steps);
  const Index mark = std::max<Index>(1, steps / options_.adam_every / 100);
  const auto stopped = [&] {
    if (options_.training.stop && options_.training.stop())
      summary.reason = "stopped by the caller";
    else if (seconds() >= options_.training.max_seconds)
      summary.reason =
          fmt::format("the limit of {} seconds was reached", options_.training.max_seconds);
    else
      return false;
    return true;
  };
  bool whole = true;
  const auto told = [&] {
    if (!options_.after_iteration) return;
    state.adam = adam.state();
    state.seconds = seconds();
    options_.after_iteration(state);
  };
  while (state.step < steps) {
    if (stopped()) {
      whole = false;
      break;
    }
    const Index step = state.step++;
    const double ramp = step < options_.natural_ramp
                            ? std::pow(0.01, 1.0 - static_cast<double>(step) /
                                                       static_cast<double>(options_.natural_ramp))
                            : 1.0;
    std::optional<double> value;
    const bool held = step < hold || (step - hold) % options_.adam_every != 0;
    try {
      value = batches.with(step, [&](const RowSource& rows) {
        return batch_step(rows, adam.state().u, ramp * options_.natural_step, q, jitter,
                          held ? nullptr : &gradient, state.shortened);
      });
    } catch (const NumericalError& e) {
      say(fmt::format("step {} failed: {}", step, e.what()));
    }
    if (step == 0) state.initial_value = -value.value_or(0.0);
    if (held) {
      told();
      continue;
    }
    const Adam::Outcome outcome = adam.step(value, gradient);
    if (outcome == Adam::Outcome::best) state.best_q = q;
    if (outcome == Adam::Outcome::rolled_back || outcome == Adam::Outcome::given_up)
      q = state.best_q;
    if ((adam.state().steps - 1) % mark == 0 || adam.state().steps == moves)
      state.trace.push_back({step, -adam.state().mean,
                             gradient.size() ? gradient.cwiseAbs().maxCoeff() : 0.0, seconds()});
    told();
    if (outcome == Adam::Outcome::given_up) {
      summary.reason = fmt::format("diverged again after {} rollbacks", options.most_rollbacks);
      whole = false;
      break;
    }
  }
  q.keep_whole();
  const AdamState& s = adam.state();
  parameters_.set_values(parameters_.constrain(s.u));
  summary.initial_value = state.initial_value;
  summary.trace = state.trace;
  summary.evaluations = summary.iterations = state.step;
  summary.rejected_evaluations = s.failures;
  summary.gradient_norm = summary.trace.empty() ? 0.0 : summary.trace.back().gradient_norm;
  if (const std::string w = adam.warning(); !w.empty()) summary.warnings.push_back(w);
  if (state.shortened > 0)
    say(fmt::format("natural-gradient steps were halved {} times to keep q in bounds",
                    state.shortened));
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

}  // namespace covary
