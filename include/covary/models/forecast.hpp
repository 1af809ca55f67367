#pragma once

#include "covary/models/model_data.hpp"
#include "covary/models/table.hpp"

namespace covary {

// Throws Error "memory" if the model cannot fit in the memory that there is; tells what a long run
// will cost.
Cost forecast(const ModelEntry& entry, const ProblemSize& size, const FitOptions& options,
              const Tell& tell);

}  // namespace covary
