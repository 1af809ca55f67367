#include "covary/training/trainer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <utility>

#include "covary/error.hpp"
#include "trainer_state.hpp"

namespace covary {
namespace {

constexpr const char* evaluated = "evaluated at the given parameters";

double clock_seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

double largest(const Vector& g) { return g.size() ? g.cwiseAbs().maxCoeff() : 0.0; }

Summary::Point point(const LbfgsState& s) {
  return {s.iterations, s.value, largest(s.gradient), s.seconds};
}

}  // namespace

Trainer::Trainer(TrainingOptions options, TrainingState resume)
    : options_(std::move(options)),
      state_(std::move(resume)),
      resumed_(!state_.done.empty() || state_.run || state_.minibatches),
      seconds_before_(state_.seconds),
      began_(clock_seconds()) {
  options_.check();
}

bool Trainer::wants_to_stop() {
  if (stopped()) return true;
  if (options_.stop && options_.stop()) stopped_ = Stop::caller;
  if (!(seconds() < options_.max_seconds)) stopped_ = Stop::seconds;
  return stopped();
}

double Trainer::seconds() const { return seconds_before_ + (clock_seconds() - began_); }

std::string Trainer::limit_of_seconds() const {
  return fmt::format("the limit of {} seconds was reached", options_.max_seconds);
}

// A part that an earlier run has behind it.
bool Trainer::take_done(const std::string& work, TrainingState::Part& out) {
  flush();
  if (next_ == state_.done.size() || state_.done[next_].work != work) return false;
  out = state_.done[next_++];
  evaluations_ += out.summary.evaluations;
  rejected_ += out.summary.rejected_evaluations;
  return true;
}

// A part that came to its limit is over once another begins.
void Trainer::flush() {
  if (!at_limit_) return;
  keep(std::move(*at_limit_));
  at_limit_.reset();
  state_.run.reset();
  state_.minibatches.reset();
}

void Trainer::keep(TrainingState::Part part) {
  state_.done.push_back(std::move(part));
  next_ = state_.done.size();
}

TrainingProgress Trainer::progress(const Jitter& jitter) const {
  TrainingProgress out;
  out.part = static_cast<Index>(next_);
  out.start = start_;
  out.starts = starts_;
  out.jitter = jitter;
  out.evaluations = evaluations_;
  out.seconds = seconds();
  return out;
}

// Of the run under way, or, where there is none, of the parts that are over.
void Trainer::tell(const Problem& problem, const Lbfgs* run, bool over) const {
  if (!options_.after_iteration) return;
  TrainingProgress now = progress(*problem.jitter);
  now.run = run ? &run->state() : nullptr;
  now.over = over;
  now.state = [&] {
    TrainingState out = state_;
    if (run) {
      out.run = run->state();
      out.jitter = *problem.jitter;
      if (problem.blocks) out.blocks = problem.blocks();
    }
    out.seconds = seconds();
    return out;
  };
  options_.after_iteration(now);
}

Minimum Trainer::evaluate_only(const Problem& problem, const Vector& u) {
  Minimum out;
  const std::optional<double> value =
      minus_log_posterior(*problem.parameters, u, nullptr, problem.evaluate);
  ++evaluations_;
  if (!value || !std::isfinite(*value))
    throw NumericalError(
        "the objective cannot be evaluated at the given parameters: it is not finite there");
  out.state.u = u;
  out.state.value = out.state.initial_value = *value;
  out.state.evaluations = 1;
  Summary& s = out.summary;
  s.value = s.initial_value = *value;
  s.evaluations = 1;
  s.converged = u.size() == 0;
  s.stop = stopped() ? stopped_ : Stop::evaluated;
  s.reason = u.size() == 0               ? "nothing to train"
             : stopped_ == Stop::caller  ? "stopped by the caller"
             : stopped_ == Stop::seconds ? limit_of_seconds()
                                         : evaluated;
  return out;
}

Trainer::Part Trainer::rest_of(const TrainingOptions& options, std::optional<Summary> before) {
  Part out;
  if (before) out.max_iterations = options.max_iterations - before->iterations;
  out.before = std::move(before);
  return out;
}

Minimum Trainer::minimise(const Problem& problem, const Part& part) {
  Minimum out = run(problem, part);
  if (!part.before) return out;
  out.summary.go_on_from(*part.before);
  if (out.summary.stop == Stop::iterations) out.summary.reason += " in the last stage";
  return out;
}

std::optional<Minimum> Trainer::minimise_held(const Problem& problem, const Held& held,
                                              const Part& part) {
  Parameters& parameters = *problem.parameters;
  struct Flags {
    ~Flags() {
      for (const std::string& path : paths) parameters.unfix(path);
    }
    Parameters& parameters;
    std::vector<std::string> paths = {};
  } flags{parameters};
  for (const Parameter& p : parameters.all())
    if (p.trainable && held(p.path)) flags.paths.push_back(p.path);
  for (const std::string& path : flags.paths) parameters.fix(path);
  if (parameters.free_size() == 0) return std::nullopt;
  return minimise(problem, part);
}

Minimum Trainer::run(const Problem& problem, const Part& part) {
  const Vector start = part.start ? *part.start : problem.parameters->flatten();
  if (auto done = done_before(problem, start.size())) return std::move(*done);
  static_cast<void>(wants_to_stop());
  const LbfgsOptions options = options_of(problem, part);
  if (options.max_iterations == 0 || start.size() == 0 || (stopped() && !state_.run))
    return evaluate_only(problem, start);
  const bool resumed = state_.run.has_value();
  Lbfgs lbfgs = begin(problem, start, options);
  if (!resumed) state_.trace = {point(lbfgs.state())};
  while (lbfgs.step()) {
    state_.trace.push_back(point(lbfgs.state()));
    tell(problem, &lbfgs, false);
  }
  return end(problem, lbfgs);
}

std::optional<Minimum> Trainer::done_before(const Problem& problem, Index parameters) {
  if (TrainingState::Part done; take_done({}, done)) {
    *problem.jitter = done.jitter;
    if (!done.failure.empty()) throw NumericalError(done.failure);
    if (done.run.u.size() != parameters) refuse_state(done.run.u.size(), parameters);
    if (problem.set_blocks) problem.set_blocks(done.blocks);
    problem.parameters->set_values(problem.parameters->constrain(done.run.u));
    return Minimum{std::move(done.run), std::move(done.summary)};
  }
  if (state_.minibatches || (next_ < state_.done.size() && state_.done[next_].work == minibatches))
    throw InputError("the state to resume is from minibatches, but this training is over all rows");
  return std::nullopt;
}

LbfgsOptions Trainer::options_of(const Problem& problem, const Part& part) const {
  LbfgsOptions out = options_.lbfgs();
  if (part.max_iterations) out.max_iterations = *part.max_iterations;
  if (part.gradient_tolerance) out.gradient_tolerance = *part.gradient_tolerance;
  out.max_seconds += (state_.run ? state_.run->seconds : 0.0) - seconds();
  out.objective_changed = [jitter = problem.jitter] {
    return std::exchange(jitter->raised, false);
  };
  if (problem.shape) problem.shape(out);
  return out;
}

// A new run, or the one that a state has under way.
Lbfgs Trainer::begin(const Problem& problem, const Vector& start, const LbfgsOptions& options) {
  // Evaluations are counted here because a part that fails throws its own count away.
  const Index before = evaluations_;
  const Objective objective = [this, &problem](const Vector& u, Vector* gradient) {
    ++evaluations_;
    return minus_log_posterior(*problem.parameters, u, gradient, problem.evaluate);
  };
  if (state_.run) {
    LbfgsState run = std::move(*state_.run);
    state_.run.reset();
    if (run.u.size() != start.size()) refuse_state(run.u.size(), start.size());
    *problem.jitter = state_.jitter;
    if (problem.set_blocks) problem.set_blocks(state_.blocks);
    evaluations_ += run.evaluations;
    return {objective, std::move(run), options};
  }
  try {
    return {objective, start, options};
  } catch (const NumericalError& e) {
    TrainingState::Part failed;
    failed.jitter = *problem.jitter;
    failed.failure = e.what();
    failed.summary.evaluations = evaluations_ - before;
    keep(std::move(failed));
    throw;
  }
}

Minimum Trainer::end(const Problem& problem, const Lbfgs& lbfgs) {
  Minimum out{lbfgs.state(), lbfgs.summary()};
  out.summary.trace = state_.trace;
  rejected_ += out.summary.rejected_evaluations;
  problem.parameters->set_values(problem.parameters->constrain(out.state.u));
  const Stop why = lbfgs.stopped_by_caller() ? Stop::caller : out.summary.stop;
  if (why == Stop::caller || why == Stop::seconds) {
    stopped_ = why;
    if (out.summary.stop == Stop::seconds) out.summary.reason = limit_of_seconds();
    tell(problem, &lbfgs, true);
    return out;
  }
  TrainingState::Part over{
      out.state, out.summary, *problem.jitter, problem.blocks ? problem.blocks() : Blocks{},
      {},        {}};
  over.run.s.clear();
  over.run.y.clear();
  if (why == Stop::iterations || why == Stop::evaluations) {
    tell(problem, &lbfgs, true);
    state_.run = lbfgs.state();
    state_.jitter = *problem.jitter;
    state_.blocks = over.blocks;
    at_limit_ = std::move(over);
  } else {
    keep(std::move(over));
    tell(problem, nullptr, true);
  }
  return out;
}

Trainer::Found Trainer::once(const std::string& name, const std::function<Found()>& work,
                             Jitter* jitter) {
  if (TrainingState::Part done; take_done(name, done)) {
    if (jitter) *jitter = done.jitter;
    return {std::move(done.blocks), std::move(done.summary.reason)};
  }
  const std::size_t before = next_;
  const Index evaluations = evaluations_, rejected = rejected_;
  Found out = work();
  if (wants_to_stop()) return out;
  at_limit_.reset();
  state_.run.reset();
  state_.done.resize(before);
  TrainingState::Part part;
  part.work = name;
  part.blocks = out.blocks;
  part.summary.reason = out.note;
  part.summary.evaluations = evaluations_ - evaluations;
  part.summary.rejected_evaluations = rejected_ - rejected;
  if (jitter) part.jitter = *jitter;
  keep(std::move(part));
  return out;
}

void Trainer::complete(Summary& summary) const {
  if (summary.stop == Stop::running) {
    summary.stop = Stop::evaluated;
    summary.reason = evaluated;
    summary.initial_value = summary.value;
  }
  summary.evaluations = std::max<Index>(1, evaluations_);
  summary.rejected_evaluations = rejected_;
  summary.seconds = seconds();
}

}  // namespace covary
