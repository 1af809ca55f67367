#pragma once

#include <optional>

#include "covary/models/sparse_regression.hpp"
#include "covary/models/table.hpp"
#include "training_arguments.hpp"

namespace covary::cli {

// What the sparse models take besides.
struct SparseArguments {
  std::string model = "auto", inducing = "auto", inducing_file, selection = "greedy_variance",
              covariance = "full", features = "points", route = "auto", warm_start;
  Index groups = 0, batch = 0, epochs = 0, steps = 0;
  double learning_rate = 0.0, natural_step = 0.0;  // 0: the model's own
  std::string schedule, separate_kernels = "auto";
};
void add_sparse_options(CLI::App& sub, SparseArguments& a);

// What the options say of minibatches.
void set_minibatches(const SparseArguments& a, TrainingOptions& training);
// The number that --inducing gives; 0 for auto.
Index inducing_of(const SparseArguments& a);
// What the forecast of the cost is made from.
ProblemSize size_of(const TrainingData& d, const SparseArguments& a);
// The approximation of a model of Gaussian regression whose name is decided (not "auto"), or
// nothing for exact inference.
std::optional<Approximation> approximation_of(const SparseArguments& a);
// The options of a sparse model that those of an exact one are part of. `given`: training starts
// from the parameters as they are, without a fit of some rows.
SparseRegressionOptions sparse_options(const SparseArguments& a, const Approximation& approximation,
                                       const RegressionOptions& options, const InputColumns& inputs,
                                       bool given);
// Trains a model of some of the rows, as folds do.
RegressionFit fit_rows(const TrainingArguments& t, const SparseArguments& a, const TrainingData& d,
                       const std::string& kernel);

}  // namespace covary::cli
