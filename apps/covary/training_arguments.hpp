#pragma once

#include "common.hpp"
#include "covary/data/inputs.hpp"
#include "covary/data/labels.hpp"
#include "covary/likelihoods/likelihood.hpp"
#include "covary/models/regression.hpp"
#include "covary/statistics/rows.hpp"

namespace covary::cli {

// What `fit` and `compare` take alike.
struct TrainingArguments {
  std::string train, likelihood = "auto", mean = "zero", noise, exposure, weights,
                     missing = "model", scale = "auto", header = "auto", folds;
  std::vector<std::string> target, inputs, set, fix, prior, bounds, tie;
  bool no_scale = false, verbose = false;
  double jitter = 0.0, max_seconds = 0.0;
  Index max_iter = 1000, restarts = 0, pca = 0, gplvm = 0, lags = 0;
  std::uint64_t seed = 0;
};
void add_training_options(CLI::App& sub, TrainingArguments& a);
// Throws unless --likelihood is an expression, auto, or one whose classes are counted in the data.
void check_likelihood(const std::string& expression);
// Whether --likelihood, if it is not auto, is one of classes.
bool is_of_classes(const std::string& expression);
// The likelihood of a target with these classes: by their number where the expression, or auto,
// leaves it open. InputError where it has another number.
Likelihood likelihood_of(const std::string& expression, const Labels& labels,
                         const std::string& target, const Common& common);

// Which columns of the training table play which part.
struct Roles {
  std::vector<Index> targets, noise, exposure, weights, folds, inputs;
};
Roles roles(const Table& table, const TrainingArguments& a);
// The rows of a block that --missing keeps; `first` is the number of its first row.
std::vector<Index> kept_rows(ConstRows X, ConstRows Y, const std::string& policy, Index first);
void tell_left_out(Index kept, Index all, const std::string& policy, const Common& common);

// The rows and columns of the training file that the model sees.
struct TrainingData {
  RowMatrix X, Y;
  Vector noise;  // of the rows, or empty
  // Of a model of another likelihood than Gaussian regression: the likelihood itself, the classes
  // of the target, the column beside it and the weights of the rows.
  std::optional<Likelihood> likelihood = {};
  Labels labels = {};
  Vector aux = {}, weights = {};
  InputColumns inputs;
  std::vector<std::string> output_names;
  std::vector<std::string> fold_labels;  // of the rows, when --folds names a column
  // Rows that stay in a file, instead of X and Y, and how they are best scaled.
  std::shared_ptr<FileRows> file = nullptr;
  ScaleMode file_inputs = ScaleMode::columns, file_outputs = ScaleMode::columns;

  Index count() const { return file ? file->rows() : X.rows(); }
  TrainingData rows(const std::vector<Index>& numbers) const;
};
TrainingData read_training(const TrainingArguments& a, const Common& common);

// A model of the data with the settings applied: --bounds, --set, --prior, --tie, --fix.
RegressionOptions regression_options(const TrainingArguments& a, const TrainingData& d,
                                     const std::string& kernel);
void apply_settings(const TrainingArguments& a, Parameters& p);

}  // namespace covary::cli
