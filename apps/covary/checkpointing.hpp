#pragma once

#include <string>

#include "common.hpp"
#include "training_arguments.hpp"

namespace covary::cli {

// A digest of all that the course of training depends on: the data, the kernel, the parameters with
// their settings, the seed. Limits are not in it: they may be raised on resuming.
std::string problem_digest(const TrainingData& d, const RegressionOptions& options,
                           const Parameters& parameters);

}  // namespace covary::cli
