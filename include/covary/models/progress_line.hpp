#pragma once

#include <string>

#include "covary/training/state.hpp"

namespace covary {

// What --verbose prints of an iteration, or of a move of Adam; `shift` makes the objective that of
// the data's units.
std::string progress_line(const TrainingProgress& now, double shift);

}  // namespace covary
