#pragma once

#include <functional>

#include "covary/data/split.hpp"
#include "training_arguments.hpp"

namespace covary::cli {

// The folds of --folds: K random ones, or one for each label of its column.
std::vector<Split> make_folds(const TrainingArguments& a, const TrainingData& d);

// Scores of every held-out observation, in the order of folds, rows and outputs, so that those of
// two models can be compared one by one.
struct HeldOut {
  std::vector<double> nlpd, squared_error;
};
// Means and variances of the test rows' outputs, by whatever is trained on the others.
using PredictRows = std::function<Prediction(const TrainingData& train, const TrainingData& test)>;
HeldOut cross_validate(const TrainingData& d, const std::vector<Split>& folds,
                       const PredictRows& predict);
// By a model.
using FitRows = std::function<RegressionFit(const TrainingData&)>;
PredictRows predictions_of(FitRows fit);

// A mean over observations with its standard error.
struct Score {
  double mean = 0.0, error = 0.0;
};
Score mean_score(const std::vector<double>& values);
Score root_mean_score(const std::vector<double>& squares);  // of √mean, by the delta method
json score_json(const HeldOut& held_out, std::size_t folds);

}  // namespace covary::cli
