// Training over minibatches: natural gradients for q(u), Adam for the rest.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>

#include "covary/error.hpp"
#include "covary/training/trainer.hpp"

namespace covary {
namespace {

constexpr Index fewest_steps = 2000, most_steps = 20000;

// Over the last quarter the mean fell by next to nothing: of the whole fall, or of its own noise.
void judge(Summary& summary, const AdamState& adam, Index window) {
  const auto& trace = summary.trace;
  if (trace.size() < 8) return;
  const double fall = trace[trace.size() * 3 / 4].value - trace.back().value;
  const double noise = std::sqrt(adam.variance / static_cast<double>(window));
  summary.converged =
      fall <= std::max(0.01 * (trace.front().value - trace.back().value), 2.0 * noise);
  if (!summary.converged)
    summary.reason += fmt::format("; the bound still rose by {:.3g} in the last quarter", fall);
}

}  // namespace

Minimum Trainer::minimise(const MinibatchProblem& problem) {
  flush();
  const TrainingOptions& o = options_;
  const Index pass = problem.batches_per_pass;
  const Index steps = o.steps ? o.steps
                      : o.epochs
                          ? o.epochs * pass
                          : std::clamp(problem.usual_passes * pass, fewest_steps, most_steps);
  // At first q(u) alone: the gradients of the rest at a q far from its place are huge, and Adam
  // would remember them for a thousand steps.
  const Index hold = std::min(2 * o.natural_ramp, steps / 5);
  const Index moves = (steps - hold + o.adam_every - 1) / o.adam_every;
  AdamOptions adam_options;
  adam_options.learning_rate = o.learning_rate;
  LearningRate& rate = adam_options.learning_rate;
  if (rate.rate == 0.0) rate.rate = problem.usual_rate;
  if (rate.every == 0) rate.every = (steps + o.adam_every - 1) / o.adam_every;

  if (state_.run || next_ < state_.done.size())
    throw InputError(
        "the state to resume is from training over all rows, but this training is by minibatches");
  MinibatchState at;
  if (state_.minibatches) {
    at = std::move(*state_.minibatches);
    state_.minibatches.reset();
    *problem.jitter = state_.jitter;
    problem.set_blocks(state_.blocks);
    problem.set_best_blocks(at.best);
  } else {
    problem.keep_best();
  }
  at.steps = steps;
  const bool begun = at.adam.u.size() > 0 || at.step > 0;
  if (begun && at.adam.u.size() != problem.parameters->free_size())
    throw InputError(fmt::format(
        "the state to be resumed has {} parameters, the model has {}; resume with the same data "
        "and options",
        at.adam.u.size(), problem.parameters->free_size()));
  Adam adam = begun ? Adam(std::move(at.adam), adam_options)
                    : Adam(problem.parameters->flatten(), adam_options);
  Vector gradient = Vector::Zero(problem.parameters->free_size());
  Minimum out;
  Summary& summary = out.summary;
  summary.stop = Stop::steps;
  summary.reason = fmt::format("made {} steps of minibatches", steps);
  const Index mark = std::max<Index>(1, steps / o.adam_every / 100);

  const auto state = [&] {
    TrainingState all = state_;
    all.minibatches = at;
    all.minibatches->adam = adam.state();
    all.minibatches->best = problem.best_blocks();
    all.jitter = *problem.jitter;
    all.blocks = problem.blocks();
    all.seconds = seconds();
    return all;
  };
  const auto tell = [&](bool over) {
    if (!o.after_iteration) return;
    TrainingProgress now = progress(*problem.jitter);
    now.adam = &adam.state();
    now.step = at.step;
    now.steps = steps;
    now.over = over;
    now.state = state;
    o.after_iteration(now);
  };
  while (at.step < steps) {
    if (o.stop && o.stop()) {
      stopped_ = summary.stop = Stop::caller;
      summary.reason = "stopped by the caller";
      break;
    }
    if (seconds() >= o.max_seconds) {
      stopped_ = summary.stop = Stop::seconds;
      summary.reason = fmt::format("the limit of {} seconds was reached", o.max_seconds);
      break;
    }
    MinibatchStep step;
    step.number = at.step++;
    step.of = steps;
    step.natural_step =
        o.natural_step * (step.number < o.natural_ramp
                              ? std::pow(0.01, 1.0 - static_cast<double>(step.number) /
                                                         static_cast<double>(o.natural_ramp))
                              : 1.0);
    step.relative_rate = rate.at(adam.state().steps) / rate.rate * adam.state().factor;
    step.natural_only = step.number < hold || (step.number - hold) % o.adam_every != 0;
    std::optional<double> value;
    try {
      value = problem.step(adam.state().u, step, step.natural_only ? nullptr : &gradient);
    } catch (const NumericalError& e) {
      o.say(fmt::format("step {} failed: {}", step.number, e.what()));
    }
    if (step.number == 0) at.initial_value = value.value_or(0.0);
    if (step.natural_only) {
      tell(false);
      continue;
    }
    const Adam::Outcome outcome = adam.step(value, gradient);
    if (outcome == Adam::Outcome::best) problem.keep_best();
    if (outcome == Adam::Outcome::rolled_back || outcome == Adam::Outcome::given_up)
      problem.go_to_best();
    if ((adam.state().steps - 1) % mark == 0 || adam.state().steps == moves)
      at.trace.push_back({step.number, adam.state().mean,
                          gradient.size() ? gradient.cwiseAbs().maxCoeff() : 0.0, seconds()});
    tell(false);
    if (outcome == Adam::Outcome::given_up) {
      summary.stop = Stop::diverged;
      summary.reason =
          fmt::format("diverged again after {} rollbacks", adam_options.most_rollbacks);
      break;
    }
  }
  tell(true);
  const AdamState& s = adam.state();
  problem.parameters->set_values(problem.parameters->constrain(s.u));
  evaluations_ += at.step * problem.evaluations_of_step;
  out.state.u = s.u;
  out.state.value = s.mean;
  summary.value = s.mean;
  summary.initial_value = at.initial_value;
  summary.trace = at.trace;
  summary.iterations = at.step;
  summary.evaluations = at.step * problem.evaluations_of_step;
  summary.rejected_evaluations = s.failures;
  summary.gradient_norm = at.trace.empty() ? 0.0 : at.trace.back().gradient_norm;
  if (const std::string w = adam.warning(); !w.empty()) summary.warnings.push_back(w);
  if (summary.stop == Stop::steps) judge(summary, s, adam_options.window);
  return out;
}

}  // namespace covary
