#pragma once

#include <vector>

#include "covary/inference/uncertain_inputs.hpp"

namespace covary {

// q(x) = N(mean, diag(variance)) of one row's input.
struct InferredRow {
  Vector mean, variance;  // D
  double bound = 0.0;     // Σ terms − KL over the free dimensions
};

// The best q(x) for what a row's outputs say, the terms, under the prior N(0, I), from the best of
// some starts. Dimensions that are not free keep what the starts have there.
InferredRow infer_row(const std::vector<UncertainInputs::RowTerm>& terms,
                      const std::vector<Index>& free, const std::vector<InferredRow>& starts,
                      Index iterations);

}  // namespace covary
