#pragma once

#include "covary/models/table.hpp"

namespace covary::testing {

// A model that predicts the mean of the targets: what a new one takes, and nothing else.
ModelEntry mean_only();

}  // namespace covary::testing
