#pragma once

#include "covary/models/stochastic_gplvm.hpp"

namespace covary {

// Some rows: q(x) and the outputs, and what their expectations are made with.
struct StochasticGplvm::Batch {
  RowMatrix mean, variance, Y;
  std::vector<std::vector<Index>> columns;  // Gaussian noise: by missing rows
  RowMatrix deviates;                       // any other likelihood
};

}  // namespace covary
