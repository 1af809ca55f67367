#pragma once

#include "sparse_arguments.hpp"
#include "training_session.hpp"

namespace covary::cli {

// Whether --missing learn has something to learn.
bool has_missing_inputs(const TrainingArguments& t, const TrainingData& d);
// A regression by vfe whose missing inputs are learned; says whether its checkpoint has the state.
RegressionFit fit_learned(const TrainingArguments& t, const SparseArguments& s,
                          const TrainingData& d, const std::string& kernel,
                          const CheckpointArguments& checkpoint, bool& checkpointed,
                          const Common& common);

}  // namespace covary::cli
