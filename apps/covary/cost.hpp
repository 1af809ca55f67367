#pragma once

#include <string>

#include "common.hpp"
#include "covary/models/table.hpp"

namespace covary::cli {

// Observed rows of each pattern of missing outputs.
std::vector<double> patterns_of(const RowMatrix& Y);

// Throws Error "memory" if the model cannot fit in the memory that there is; tells what a long run
// will cost. The object of the JSON's "cost".
json forecast(const ModelEntry& entry, const ProblemSize& size, Index max_iterations, Index starts,
              const Common& common);

// Bytes that this process may still ask for: the machine's, its container's and its own limit.
double available_memory();
double total_memory();
std::string in_gigabytes(double bytes);

// Throws Error "memory" when `what`, whose memory grows with the square of its rows, needs more
// than there is.
void require_memory(double bytes, Index rows, const std::string& what);

}  // namespace covary::cli
