#pragma once

#include <optional>

#include "covary/models/sparse_regression.hpp"
#include "training_arguments.hpp"

namespace covary::cli {

// What the sparse models take besides.
struct SparseArguments {
  std::string model = "auto", inducing = "auto", inducing_file, selection = "greedy_variance",
              covariance = "full", features = "points", route = "auto", warm_start;
  Index groups = 0, batch = 0, epochs = 0;
};
void add_sparse_options(CLI::App& sub, SparseArguments& a);

// The number that --inducing gives; 0 for auto.
Index inducing_of(const SparseArguments& a);
// Refuses --features of a model that has no inducing variables, or points alone.
void check_features(const SparseArguments& a, bool any_features, const std::string& model);
// The approximation that --model names, or nothing for exact inference. "auto" is exact up to 2000
// rows and vfe beyond.
std::optional<Approximation> approximation_of(const SparseArguments& a, Index rows);
// The options of a sparse model that those of an exact one are part of. `given`: training starts
// from the parameters as they are, without a fit of some rows.
SparseRegressionOptions sparse_options(const SparseArguments& a, const Approximation& approximation,
                                       const RegressionOptions& options, const InputColumns& inputs,
                                       bool given);
// Trains a model of some of the rows, as folds do.
RegressionFit fit_rows(const TrainingArguments& t, const SparseArguments& a, const TrainingData& d,
                       const std::string& kernel);

}  // namespace covary::cli
