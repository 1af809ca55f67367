#pragma once

#include <string>

#include "covary/training/state.hpp"

namespace covary {

// Training under way in the container of docs/model-file.md, with the kind "checkpoint". `problem`
// is a digest of what the run depends on besides its state, so that a checkpoint is not continued
// with other data or options: that is an InputError.
void save_checkpoint(const std::string& path, const TrainingState& state,
                     const std::string& problem);
TrainingState load_checkpoint(const std::string& path, const std::string& problem);

}  // namespace covary
