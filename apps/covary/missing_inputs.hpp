#pragma once

#include "sparse_arguments.hpp"

namespace covary::cli {

// Whether --missing learn has something to learn.
bool has_missing_inputs(const TrainingArguments& t, const TrainingData& d);
// A regression by vfe whose missing inputs are learned.
RegressionFit fit_learned(const TrainingArguments& t, const SparseArguments& s,
                          const TrainingData& d, const std::string& kernel, const Common& common);

}  // namespace covary::cli
