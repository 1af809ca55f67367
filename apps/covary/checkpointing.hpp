#pragma once

#include <string>

#include "common.hpp"
#include "training_arguments.hpp"

namespace covary::cli {

// A digest of all that the course of training depends on: the data, the kernel, the parameters with
// their settings, the seed. Limits are not in it: they may be raised on resuming.
std::string problem_digest(const TrainingData& d, const RegressionOptions& options,
                           const Parameters& parameters);

// The state of training that a file keeps, if it is to be gone on with and there is one.
TrainingState resumed_state(const std::string& file, bool resume, const std::string& problem,
                            const Common& common);

}  // namespace covary::cli
