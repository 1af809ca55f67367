#pragma once

#include <functional>

#include "covary/linalg/types.hpp"

namespace covary {

// The one place that decides threading. BLAS always runs on one thread; all parallelism is ours,
// over tasks whose shape does not depend on the number of threads, so results do not either.

// Number of threads used by parallel_for. Starts at COVARY_NUM_THREADS, else the cores available.
int threads();
// n ≥ 1, or 0 for all cores.
void set_threads(int n);

// Calls body(0) … body(n−1), each once, in any order and on any thread. Calls made inside a body
// run serially. The exception of the lowest-numbered failing task that ran is rethrown. A process
// that forks afterwards may use it in the child.
void parallel_for(Index n, const std::function<void(Index)>& body);
// Calls body(first, end) for ranges of `width` that cover 0 … n−1, in the same way: for loops over
// entries that cost some nanoseconds each.
void parallel_ranges(Index n, const std::function<void(Index first, Index end)>& body,
                     Index width = 1024);
// True in the bodies of a parallel_for of two tasks or more, whatever the number of threads.
bool inside_parallel();

}  // namespace covary
