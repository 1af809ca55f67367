#pragma once

#include <memory>

#include "covary/models/stochastic_gplvm.hpp"

namespace covary {

// Some rows: q(x) and the outputs, and what their expectations are made with.
struct StochasticGplvm::Batch {
  RowMatrix mean, variance, Y;
  RowMatrix deviates;  // of a likelihood that is not Gaussian
  // The rows as the bound sees them; views of the above, which may move and must not change.
  std::unique_ptr<const RowSource> source;
  std::unique_ptr<const Sweep> sweep;
};

}  // namespace covary
