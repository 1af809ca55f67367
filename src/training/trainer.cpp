#include "covary/training/trainer.hpp"

#include <fmt/format.h>

#include <chrono>
#include <utility>

#include "covary/error.hpp"

namespace covary {
namespace {

double clock_seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

double largest(const Vector& g) { return g.size() ? g.cwiseAbs().maxCoeff() : 0.0; }

Summary::Point point(const LbfgsState& s) {
  return {s.iterations, s.value, largest(s.gradient), s.seconds};
}

[[noreturn]] void refuse_state(Index saved, Index own) {
  throw InputError(fmt::format(
      "the state to be resumed has {} parameters, the model has {}; resume with the same data and "
      "options",
      saved, own));
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

// A part that an earlier run has behind it.
bool Trainer::take_done(const std::string& work, TrainingState::Part& out) {
  flush();
  if (next_ == state_.done.size() || state_.done[next_].work != work) return false;
  out = state_.done[next_++];
  evaluations_ += out.summary.evaluations;
  return true;
}

// A part that came to its limit is over once another begins.
void Trainer::flush() {
  if (!at_limit_) return;
  state_.done.push_back(std::move(*at_limit_));
  at_limit_.reset();
  state_.run.reset();
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
  s.reason = u.size() == 0              ? "nothing to train"
             : stopped_ == Stop::caller ? "stopped by the caller"
             : stopped_ == Stop::seconds
                 ? fmt::format("the limit of {} seconds was reached", options_.max_seconds)
                 : "evaluated at the given parameters";
  return out;
}

Minimum Trainer::minimise(const Problem& problem, const Part& part) {
  Parameters& parameters = *problem.parameters;
  const Vector start = part.start ? *part.start : parameters.flatten();
  if (TrainingState::Part done; take_done({}, done)) {
    *problem.jitter = done.jitter;
    if (!done.failure.empty()) throw NumericalError(done.failure);
    if (done.run.u.size() != start.size()) refuse_state(done.run.u.size(), start.size());
    if (problem.set_blocks) problem.set_blocks(done.blocks);
    parameters.set_values(parameters.constrain(done.run.u));
    return {std::move(done.run), std::move(done.summary)};
  }
  if (state_.minibatches)
    throw InputError("the state to resume is from minibatches, but this training is over all rows");
  LbfgsOptions options = options_.lbfgs();
  if (part.max_iterations) options.max_iterations = *part.max_iterations;
  if (part.gradient_tolerance) options.gradient_tolerance = *part.gradient_tolerance;
  static_cast<void>(wants_to_stop());
  if (options.max_iterations == 0 || start.size() == 0 || (stopped() && !state_.run))
    return evaluate_only(problem, start);

  const double run_before = state_.run ? state_.run->seconds : 0.0;
  options.max_seconds += run_before - seconds();
  options.objective_changed = [&] { return std::exchange(problem.jitter->raised, false); };
  if (problem.shape) problem.shape(options);
  // Evaluations are counted here because a part that fails throws its own count away.
  const Index evaluations_before = evaluations_;
  const Objective objective = [&](const Vector& u, Vector* gradient) {
    ++evaluations_;
    return minus_log_posterior(parameters, u, gradient, problem.evaluate);
  };
  std::optional<Lbfgs> lbfgs;
  if (state_.run) {
    if (state_.run->u.size() != start.size()) refuse_state(state_.run->u.size(), start.size());
    *problem.jitter = state_.jitter;
    if (problem.set_blocks) problem.set_blocks(state_.blocks);
    evaluations_ += state_.run->evaluations;
    lbfgs.emplace(objective, std::move(*state_.run), options);
    state_.run.reset();
  } else {
    try {
      lbfgs.emplace(objective, start, options);
    } catch (const NumericalError& e) {
      TrainingState::Part failed;
      failed.jitter = *problem.jitter;
      failed.failure = e.what();
      failed.summary.evaluations = evaluations_ - evaluations_before;
      state_.done.push_back(std::move(failed));
      next_ = state_.done.size();
      throw;
    }
    state_.trace = {point(lbfgs->state())};
  }
  const auto state = [&] {
    TrainingState out = state_;
    out.run = lbfgs->state();
    out.jitter = *problem.jitter;
    if (problem.blocks) out.blocks = problem.blocks();
    out.seconds = seconds();
    return out;
  };
  const auto tell = [&](bool over) {
    if (!options_.after_iteration) return;
    TrainingProgress now = progress(*problem.jitter);
    now.run = &lbfgs->state();
    now.over = over;
    now.state = state;
    options_.after_iteration(now);
  };
  while (lbfgs->step()) {
    state_.trace.push_back(point(lbfgs->state()));
    tell(false);
  }
  Minimum out{lbfgs->state(), lbfgs->summary()};
  out.summary.trace = state_.trace;
  parameters.set_values(parameters.constrain(out.state.u));
  const Stop why = lbfgs->stopped_by_caller() ? Stop::caller : out.summary.stop;
  if (why == Stop::caller || why == Stop::seconds) {
    stopped_ = why;
    if (out.summary.stop == Stop::seconds)
      out.summary.reason = fmt::format("the limit of {} seconds was reached", options_.max_seconds);
    tell(true);
    return out;
  }
  TrainingState::Part over{
      out.state, out.summary, *problem.jitter, problem.blocks ? problem.blocks() : Blocks{},
      {},        {}};
  over.run.s.clear();
  over.run.y.clear();
  if (why == Stop::iterations || why == Stop::evaluations) {
    tell(true);
    state_.run = lbfgs->state();
    state_.jitter = *problem.jitter;
    state_.blocks = over.blocks;
    at_limit_ = std::move(over);
    return out;
  }
  state_.done.push_back(std::move(over));
  next_ = state_.done.size();
  if (options_.after_iteration) {
    TrainingProgress now = progress(*problem.jitter);
    now.over = true;
    now.state = [&] {
      TrainingState all = state_;
      all.seconds = seconds();
      return all;
    };
    options_.after_iteration(now);
  }
  return out;
}

Minimum Trainer::best_of(Index first, Index count, const std::function<Minimum(Index)>& train,
                         const std::function<void()>& improved) {
  if (count < 1)
    throw InputError(fmt::format("the number of starts is {}; it must be at least 1", count));
  std::optional<Minimum> best;
  Index best_start = first, rejected = 0;
  const Index evaluations_before = evaluations_;
  std::vector<Summary::Start> table;
  starts_ = count;
  for (Index start = first; start < first + count; ++start) {
    if (start > first && stopped_ == Stop::caller) break;
    Summary::Start row;
    row.index = start;
    if (start > first && stopped()) {
      row.reason =
          fmt::format("not run: the limit of {} seconds was reached", options_.max_seconds);
      table.push_back(std::move(row));
      continue;
    }
    start_ = start - first;
    try {
      Minimum run = train(start);
      row.value = run.state.value;
      row.iterations = run.summary.iterations;
      row.converged = run.summary.converged;
      row.reason = run.summary.reason;
      rejected += run.summary.rejected_evaluations;
      if (!best || run.state.value < best->state.value) {
        best = std::move(run);
        best_start = start;
        if (improved) improved();
      }
    } catch (const NumericalError& e) {
      row.reason = e.what();
      ++rejected;
    }
    table.push_back(std::move(row));
  }
  start_ = 0;
  starts_ = 1;
  if (!best) {
    std::string reasons;
    for (const Summary::Start& row : table)
      reasons += fmt::format("\n  start {}: {}", row.index, row.reason);
    throw NumericalError(fmt::format("all {} starts failed:{}", table.size(), reasons));
  }
  Summary& summary = best->summary;
  summary.evaluations = evaluations_ - evaluations_before;
  summary.rejected_evaluations = rejected;
  summary.seconds = seconds();
  summary.best_start = best_start;
  if (count > 1) summary.starts = std::move(table);
  return std::move(*best);
}

Minimum Trainer::minimise_from(const Problem& problem, Index starts,
                               const std::function<Vector(Index)>& other_start) {
  Parameters& parameters = *problem.parameters;
  if (options_.max_iterations == 0 || parameters.free_size() == 0) return minimise(problem);
  if (starts > 1 && !other_start)
    throw InputError(fmt::format("{} starts were asked for, but nothing makes the others", starts));
  const Parameters given = parameters;
  Minimum best = best_of(0, starts, [&](Index start) {
    parameters = given;
    if (start == 0) return minimise(problem);
    *problem.jitter = Jitter{problem.jitter->asked};  // each begins without what another needed
    return minimise(problem, {.start = other_start(start)});
  });
  parameters = given;
  parameters.set_values(parameters.constrain(best.state.u));
  return best;
}

Trainer::Found Trainer::once(const std::string& name, const std::function<Found()>& work) {
  if (TrainingState::Part done; take_done(name, done))
    return {std::move(done.blocks), std::move(done.summary.reason)};
  const std::size_t before = next_;
  Found out = work();
  if (wants_to_stop()) return out;
  at_limit_.reset();
  state_.run.reset();
  state_.done.resize(before);
  TrainingState::Part part;
  part.work = name;
  part.blocks = out.blocks;
  part.summary.reason = out.note;
  state_.done.push_back(std::move(part));
  next_ = state_.done.size();
  return out;
}

}  // namespace covary
