#include "covary/training/restarts.hpp"

#include <fmt/format.h>

#include <chrono>
#include <optional>
#include <utility>

#include "covary/error.hpp"

namespace covary {
namespace {

void check(const RestartsState& state, const Vector& start, Index starts,
           const std::function<Vector(Index)>& other_start) {
  if (starts < 1)
    throw InputError(fmt::format("the number of starts is {}; it must be at least 1", starts));
  if (starts > 1 && !other_start)
    throw InputError(fmt::format("{} starts were asked for, but nothing makes the others", starts));
  if (state.start < 0 || state.start >= starts ||
      static_cast<Index>(state.table.size()) != state.start)
    throw InputError(fmt::format("the saved run is at start {}, with {} before it, of {} starts",
                                 state.start, state.table.size(), starts));
  if (state.run && state.run->u.size() != start.size())
    throw InputError(fmt::format("the saved run has {} parameters, this one {}",
                                 state.run->u.size(), start.size()));
}

Summary::Point point(const LbfgsState& s) {
  return {s.iterations, s.value, s.gradient.size() ? s.gradient.cwiseAbs().maxCoeff() : 0.0,
          s.seconds};
}

}  // namespace

Minimum minimise_with_restarts(const Objective& objective, const Vector& start, Index starts,
                               const std::function<Vector(Index)>& other_start,
                               const LbfgsOptions& options, RestartsState state,
                               const std::function<void(const RestartsState&)>& after_iteration) {
  options.check();
  check(state, start, starts, other_start);

  bool stopped = false;
  // Evaluations are counted here because a start that fails throws its own count away.
  const Objective counted = [&](const Vector& u, Vector* gradient) {
    ++state.evaluations;
    return objective(u, gradient);
  };
  LbfgsOptions one = options;

  for (; state.start < starts && !stopped; ++state.start) {
    Summary::Start row;
    row.index = state.start;
    one.max_seconds = options.max_seconds - state.seconds;
    if (!(one.max_seconds > 0.0)) {
      row.reason = fmt::format("not run: the limit of {} seconds was reached", options.max_seconds);
      state.table.push_back(std::move(row));
      continue;
    }
    const double before = state.run ? state.run->seconds : 0.0;
    const auto began = std::chrono::steady_clock::now();
    try {
      Lbfgs lbfgs = state.run
                        ? Lbfgs(counted, *state.run, one)
                        : Lbfgs(counted, state.start == 0 ? start : other_start(state.start), one);
      if (!state.run) state.trace = {point(lbfgs.state())};
      while (lbfgs.step()) {
        state.run = lbfgs.state();
        state.trace.push_back(point(*state.run));
        if (after_iteration) after_iteration(state);
      }
      stopped = lbfgs.stopped_by_caller();
      Minimum run{lbfgs.state(), lbfgs.summary()};
      run.summary.trace = std::move(state.trace);
      row.value = run.state.value;
      row.iterations = run.summary.iterations;
      row.converged = run.summary.converged;
      row.reason = run.summary.reason;
      state.rejected_evaluations += run.summary.rejected_evaluations;
      if (!state.best || run.state.value < state.best->state.value) {
        state.best = std::move(run);
        state.best_start = state.start;
      }
    } catch (const NumericalError& e) {
      row.reason = e.what();
      ++state.rejected_evaluations;
    }
    state.seconds +=
        before + std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
    state.run.reset();
    state.trace.clear();
    state.table.push_back(std::move(row));
  }

  if (!state.best) {
    std::string reasons;
    for (const Summary::Start& row : state.table)
      reasons += fmt::format("\n  start {}: {}", row.index, row.reason);
    throw NumericalError(
        fmt::format("none of {} starts could be used:{}", state.table.size(), reasons));
  }
  Summary& summary = state.best->summary;
  summary.evaluations = state.evaluations;
  summary.rejected_evaluations = state.rejected_evaluations;
  summary.seconds = state.seconds;
  summary.best_start = state.best_start;
  if (starts > 1) summary.starts = std::move(state.table);
  return std::move(*state.best);
}

}  // namespace covary
