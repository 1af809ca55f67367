// Training from several starts.
#include <fmt/format.h>

#include <optional>
#include <utility>

#include "covary/error.hpp"
#include "covary/training/trainer.hpp"

namespace covary {

Minimum Trainer::best_of(Index first, Index count, const std::function<Minimum(Index)>& train,
                         const std::function<void()>& improved) {
  if (count < 1)
    throw InputError(fmt::format("the number of starts is {}; it must be at least 1", count));
  std::optional<Minimum> best;
  Index best_start = first;
  const Index evaluations_before = evaluations_, rejected_before = rejected_;
  const double seconds_before = seconds();
  std::vector<Summary::Start> table;
  starts_ = count;
  for (Index start = first; start < first + count; ++start) {
    if (start > first && stopped_ == Stop::caller) break;
    Summary::Start row;
    row.index = start;
    if (start > first && stopped()) {
      row.reason = "not run: " + limit_of_seconds();
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
      if (!best || run.state.value < best->state.value) {
        best = std::move(run);
        best_start = start;
        if (improved) improved();
      }
    } catch (const NumericalError& e) {
      row.reason = e.what();
      ++rejected_;
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
  summary.rejected_evaluations = rejected_ - rejected_before;
  summary.seconds = seconds() - seconds_before;
  summary.best_start = best_start;
  if (count > 1) summary.starts = std::move(table);
  return std::move(*best);
}

Minimum Trainer::minimise_from(const Problem& problem, Index starts,
                               const std::function<Vector(Index)>& other_start, const Part& first) {
  Parameters& parameters = *problem.parameters;
  if (options_.max_iterations == 0 || parameters.free_size() == 0) return minimise(problem, first);
  if (starts > 1 && !other_start)
    throw InputError(fmt::format("{} starts need a function that makes the further ones", starts));
  const Parameters given = parameters;
  const bool several = starts > 1 && problem.blocks && problem.set_blocks;
  const Blocks begun = several ? problem.blocks() : Blocks();
  Blocks blocks;
  Jitter jitter;
  Minimum best = best_of(
      0, starts,
      [&](Index start) {
        parameters = given;
        if (start == 0) return minimise(problem, first);
        *problem.jitter = Jitter{problem.jitter->asked};  // without what another start needed
        if (several) problem.set_blocks(begun);
        return minimise(problem, {.start = other_start(start)});
      },
      [&] {
        jitter = *problem.jitter;
        if (several) blocks = problem.blocks();
      });
  parameters = given;
  parameters.set_values(parameters.constrain(best.state.u));
  *problem.jitter = jitter;
  if (several) problem.set_blocks(blocks);
  return best;
}

}  // namespace covary
