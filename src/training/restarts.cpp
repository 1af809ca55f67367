#include "covary/training/restarts.hpp"

#include <fmt/format.h>

#include <chrono>
#include <optional>
#include <utility>

#include "covary/error.hpp"

namespace covary {

Minimum minimise_with_restarts(const Objective& objective, const Vector& start, Index starts,
                               const std::function<Vector(Index)>& other_start,
                               const LbfgsOptions& options) {
  options.check();
  if (starts < 1)
    throw InputError(fmt::format("the number of starts is {}; it must be at least 1", starts));
  if (starts > 1 && !other_start)
    throw InputError(fmt::format("{} starts were asked for, but nothing makes the others", starts));

  std::optional<Minimum> best;
  Index best_start = 0, evaluations = 0, rejected = 0;
  double seconds = 0.0;
  bool stopped = false;
  // Evaluations are counted here because a start that fails throws its own count away.
  const Objective counted = [&](const Vector& u, Vector* gradient) {
    ++evaluations;
    return objective(u, gradient);
  };
  LbfgsOptions one = options;
  if (options.callback)
    one.callback = [&](const LbfgsState& state) {
      stopped = !options.callback(state);
      return !stopped;
    };

  std::vector<Summary::Start> table;
  for (Index r = 0; r < starts && !stopped; ++r) {
    Summary::Start& row = table.emplace_back();
    row.index = r;
    one.max_seconds = options.max_seconds - seconds;
    if (!(one.max_seconds > 0.0)) {
      row.reason = fmt::format("not run: the limit of {} seconds was reached", options.max_seconds);
      continue;
    }
    const auto began = std::chrono::steady_clock::now();
    try {
      Minimum run = minimise(counted, r == 0 ? start : other_start(r), one);
      row.value = run.state.value;
      row.iterations = run.summary.iterations;
      row.converged = run.summary.converged;
      row.reason = run.summary.reason;
      rejected += run.summary.rejected_evaluations;
      if (!best || run.state.value < best->state.value) {
        best = std::move(run);
        best_start = r;
      }
    } catch (const NumericalError& e) {
      row.reason = e.what();
      ++rejected;
    }
    seconds += std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
  }

  if (!best) {
    std::string reasons;
    for (const Summary::Start& row : table)
      reasons += fmt::format("\n  start {}: {}", row.index, row.reason);
    throw NumericalError(fmt::format("none of {} starts could be used:{}", table.size(), reasons));
  }
  Summary& summary = best->summary;
  summary.evaluations = evaluations;
  summary.rejected_evaluations = rejected;
  summary.seconds = seconds;
  summary.best_start = best_start;
  if (starts > 1) summary.starts = std::move(table);
  return std::move(*best);
}

}  // namespace covary
