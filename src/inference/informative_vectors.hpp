#pragma once

#include <vector>

#include "covary/inference/function_model.hpp"

namespace covary {

struct InformativeVectors {
  RowMatrix Z;              // no two rows are equal
  std::vector<Index> rows;  // of the model's X, in the order they were chosen
  Vector gains;             // nats of each
};

// Inducing inputs by the informative vector machine (Lawrence, Seeger & Herbrich 2002): from the
// prior on, the row whose site would lower the entropy of q(f) the most is taken into q by moment
// matching, and again,
//
//   gain_n = −½ log(variance of f_n with its site / variance without).
//
// So rows are chosen by their labels too: those near the boundary between classes, where
// greedy_variance would cover the inputs evenly. Fewer than M where no further row has a gain. N·M
// numbers, N·M² flops and N·M tilted moments. For likelihoods that EP takes.
InformativeVectors informative_vectors(const FunctionModel& model,
                                       const FunctionParameters& parameters, Index M);

}  // namespace covary
