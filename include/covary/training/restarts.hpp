#pragma once

#include <functional>

#include "covary/training/lbfgs.hpp"

namespace covary {

// Minimises from `starts` ≥ 1 points, one after the other, and keeps the lowest value (of equals,
// the first). Start 0 is the given one, start r ≥ 1 is other_start(r), called just before its run,
// so a generator keyed by r gives the same starts whatever the others did. A start that fails is a
// row of the summary's table; NumericalError with all the reasons when every one does. Limits of
// iterations and evaluations hold for each start, max_seconds for all together; a callback that
// stops the run stops them all. In the summary, evaluations and seconds are totals and the rest is
// the best start's.
Minimum minimise_with_restarts(const Objective& objective, const Vector& start, Index starts,
                               const std::function<Vector(Index)>& other_start,
                               const LbfgsOptions& options = {});

}  // namespace covary
