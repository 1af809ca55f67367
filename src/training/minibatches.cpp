// Training over minibatches: natural gradients for q(u), Adam for the rest.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "covary/error.hpp"
#include "covary/training/trainer.hpp"
#include "trainer_state.hpp"

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

Index steps_of(const TrainingOptions& o, const MinibatchProblem& problem) {
  const Index pass = problem.batches_per_pass;
  if (o.steps) return o.steps;
  if (o.epochs) return o.epochs * pass;
  return std::clamp(problem.usual_passes * pass, fewest_steps, most_steps);
}

AdamOptions adam_options(const TrainingOptions& o, const MinibatchProblem& problem, Index steps) {
  AdamOptions out;
  out.learning_rate = o.learning_rate;
  if (out.learning_rate.rate == 0.0) out.learning_rate.rate = problem.usual_rate;
  if (out.learning_rate.every == 0)
    out.learning_rate.every = (steps + o.adam_every - 1) / o.adam_every;
  return out;
}

}  // namespace

// One part of training by minibatches.
class Trainer::Minibatches {
 public:
  Minibatches(Trainer& trainer, const MinibatchProblem& problem)
      : trainer_(trainer),
        options_(trainer.options_),
        problem_(problem),
        stopped_before_(trainer.stopped()),
        steps_(steps_of(options_, problem)),
        // At first q(u) alone: the gradients of the rest at a q far from its place are huge, and
        // Adam would remember them for a thousand steps.
        hold_(std::min(2 * options_.natural_ramp, steps_ / 5)),
        moves_((steps_ - hold_ + options_.adam_every - 1) / options_.adam_every),
        adam_options_(adam_options(options_, problem, steps_)),
        at_(taken_up()),
        adam_(at_.adam.u.size() > 0 || at_.step > 0
                  ? Adam(std::move(at_.adam), adam_options_)
                  : Adam(problem.parameters->flatten(), adam_options_)),
        gradient_(Vector::Zero(problem.parameters->free_size())) {
    at_.steps = steps_;
    summary_.stop = Stop::steps;
    summary_.reason = fmt::format("made {} steps of minibatches", steps_);
  }

  Minimum run() {
    while (at_.step < steps_ && !must_stop() && step()) continue;
    problem_.parameters->set_values(problem_.parameters->constrain(adam_.state().u));
    Minimum out = minimum();
    trainer_.evaluations_ += out.summary.evaluations;
    trainer_.rejected_ += out.summary.rejected_evaluations;
    TrainingState::Part part{out.state,         out.summary, *problem_.jitter,
                             problem_.blocks(), minibatches, {}};
    over_ = summary_.stop == Stop::diverged;
    if (over_) trainer_.keep(std::move(part));
    // A part before this one that was stopped is where a state is to go on.
    if (!stopped_before_) tell(true);
    if (summary_.stop == Stop::steps) {
      trainer_.state_ = state();
      trainer_.at_limit_ = std::move(part);
    }
    return out;
  }

 private:
  // Where a state has it, else at the beginning.
  MinibatchState taken_up() {
    if (!trainer_.state_.minibatches) {
      problem_.keep_best();
      return {};
    }
    MinibatchState out = std::move(*trainer_.state_.minibatches);
    trainer_.state_.minibatches.reset();
    const Index own = problem_.parameters->free_size();
    if (out.adam.u.size() != own) refuse_state(out.adam.u.size(), own);
    *problem_.jitter = trainer_.state_.jitter;
    problem_.set_blocks(trainer_.state_.blocks);
    problem_.set_best_blocks(out.best);
    return out;
  }

  bool must_stop() {
    if (!trainer_.wants_to_stop()) return false;
    summary_.stop = trainer_.stopped_;
    summary_.reason =
        summary_.stop == Stop::caller ? "stopped by the caller" : trainer_.limit_of_seconds();
    return true;
  }

  MinibatchStep next_step() {
    MinibatchStep out;
    out.number = at_.step++;
    out.of = steps_;
    const double ramp =
        static_cast<double>(out.number) / static_cast<double>(options_.natural_ramp);
    out.natural_step = options_.natural_step *
                       (out.number < options_.natural_ramp ? std::pow(0.01, 1.0 - ramp) : 1.0);
    const LearningRate& rate = adam_options_.learning_rate;
    out.relative_rate = rate.at(adam_.state().steps) / rate.rate * adam_.state().factor;
    out.natural_only = out.number < hold_ || (out.number - hold_) % options_.adam_every != 0;
    return out;
  }

  // False where training is given up.
  bool step() {
    const MinibatchStep step = next_step();
    std::optional<double> value;
    try {
      value = problem_.step(adam_.state().u, step, step.natural_only ? nullptr : &gradient_);
    } catch (const NumericalError& e) {
      options_.say(fmt::format("step {} failed: {}", step.number, e.what()));
    }
    if (step.number == 0) at_.initial_value = value.value_or(0.0);
    const bool goes_on = step.natural_only || move(step, value);
    tell(false);
    if (!goes_on) {
      summary_.stop = Stop::diverged;
      summary_.reason =
          fmt::format("diverged again after {} rollbacks", adam_options_.most_rollbacks);
    }
    return goes_on;
  }

  bool move(const MinibatchStep& step, std::optional<double> value) {
    const Adam::Outcome outcome = adam_.step(value, gradient_);
    if (outcome == Adam::Outcome::best) problem_.keep_best();
    if (outcome == Adam::Outcome::rolled_back || outcome == Adam::Outcome::given_up)
      problem_.go_to_best();
    const Index mark = std::max<Index>(1, steps_ / options_.adam_every / 100);
    const AdamState& s = adam_.state();
    if ((s.steps - 1) % mark == 0 || s.steps == moves_)
      at_.trace.push_back({step.number, s.mean,
                           gradient_.size() ? gradient_.cwiseAbs().maxCoeff() : 0.0,
                           trainer_.seconds()});
    return outcome != Adam::Outcome::given_up;
  }

  TrainingState state() const {
    TrainingState all = trainer_.state_;
    all.seconds = trainer_.seconds();
    if (over_) return all;
    all.minibatches = at_;
    all.minibatches->adam = adam_.state();
    all.minibatches->best = problem_.best_blocks();
    all.jitter = *problem_.jitter;
    all.blocks = problem_.blocks();
    return all;
  }

  void tell(bool over) {
    if (!options_.after_iteration) return;
    TrainingProgress now = trainer_.progress(*problem_.jitter);
    now.adam = &adam_.state();
    now.step = at_.step;
    now.steps = steps_;
    now.over = over;
    now.state = [this] { return state(); };
    options_.after_iteration(now);
  }

  Minimum minimum() {
    const AdamState& s = adam_.state();
    Minimum out;
    out.state.u = s.u;
    out.state.gradient = Vector::Zero(s.u.size());
    out.state.value = s.mean;
    out.state.iterations = at_.step;
    Summary& summary = out.summary = summary_;
    summary.value = s.mean;
    summary.initial_value = at_.initial_value;
    summary.trace = at_.trace;
    summary.iterations = at_.step;
    summary.evaluations = at_.step * problem_.evaluations_of_step;
    summary.rejected_evaluations = s.failures;
    summary.gradient_norm = at_.trace.empty() ? 0.0 : at_.trace.back().gradient_norm;
    if (const std::string w = adam_.warning(); !w.empty()) summary.warnings.push_back(w);
    if (summary.stop == Stop::steps) judge(summary, s, adam_options_.window);
    return out;
  }

  Trainer& trainer_;
  const TrainingOptions& options_;
  const MinibatchProblem& problem_;
  bool stopped_before_;
  Index steps_, hold_, moves_;
  AdamOptions adam_options_;
  MinibatchState at_;
  Adam adam_;
  Vector gradient_;
  Summary summary_;
  bool over_ = false;
};

Minimum Trainer::minimise(const MinibatchProblem& problem) {
  if (TrainingState::Part done; take_done(minibatches, done)) {
    Parameters& parameters = *problem.parameters;
    if (done.run.u.size() != parameters.free_size())
      refuse_state(done.run.u.size(), parameters.free_size());
    *problem.jitter = done.jitter;
    problem.set_blocks(done.blocks);
    parameters.set_values(parameters.constrain(done.run.u));
    return {std::move(done.run), std::move(done.summary)};
  }
  if (state_.run || next_ < state_.done.size())
    throw InputError(
        "the state to resume is from training over all rows, but this training is by minibatches");
  return Minibatches(*this, problem).run();
}

}  // namespace covary
