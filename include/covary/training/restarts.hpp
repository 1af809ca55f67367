#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "covary/training/lbfgs.hpp"

namespace covary {

// Where a minimisation from several starts stands after an iteration. Saved and given back, it
// continues with the same bits as if it had never stopped, provided that the objective, the starts
// and the options are the same.
struct RestartsState {
  Index start = 0;                    // the one under way
  std::optional<LbfgsState> run;      // its state; nothing before its first iteration
  std::vector<Summary::Point> trace;  // of it, so far
  // Of the starts before it:
  std::optional<Minimum> best;
  Index best_start = 0;
  std::vector<Summary::Start> table;
  Index rejected_evaluations = 0;
  double seconds = 0.0;
  // Of all of them:
  Index evaluations = 0;
};

// Minimises from `starts` ≥ 1 points, one after the other, and keeps the lowest value (of equals,
// the first). Start 0 is the given one, start r ≥ 1 is other_start(r), called just before its run,
// so a generator keyed by r gives the same starts whatever the others did. A start that fails is a
// row of the summary's table; NumericalError with all the reasons when every one does. Limits of
// iterations and evaluations hold for each start, max_seconds for all together; a callback that
// stops the run stops them all. In the summary, evaluations and seconds are totals and the rest is
// the best start's.
//
// `state` continues a run that was given to `after_iteration`, which is called after every one.
Minimum minimise_with_restarts(
    const Objective& objective, const Vector& start, Index starts,
    const std::function<Vector(Index)>& other_start, const LbfgsOptions& options = {},
    RestartsState state = {},
    const std::function<void(const RestartsState&)>& after_iteration = nullptr);

}  // namespace covary
