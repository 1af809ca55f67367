#pragma once

#include "common.hpp"
#include "covary/models/table.hpp"

namespace covary::cli {

// Throws Error "memory" if the model cannot fit in the memory that there is; tells what a long run
// will cost. The object of the JSON's "cost".
json forecast(const ModelEntry& entry, const ProblemSize& size, const FitOptions& options,
              const Common& common);

}  // namespace covary::cli
