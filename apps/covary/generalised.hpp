#pragma once

#include "covary/models/generalised.hpp"
#include "covary/models/model_file.hpp"
#include "covary/models/svgp.hpp"
#include "cross_validation.hpp"
#include "progress.hpp"
#include "sparse_arguments.hpp"

namespace covary::cli {

// A model of any likelihood: what `fit`, `compare` and folds do with one.

// What a name that is decided (not "auto") stands for: "laplace", "ep", "ep(0.5)", "vgp"; with
// inducing inputs "svgp", "fitc", "pep(0.5)".
struct GeneralisedMethod {
  std::string name;
  Inference method = Inference::laplace;
  double power = 1.0;
};
GeneralisedMethod method_of(const std::string& model, const TrainingData& d);

// Around the training of a model; each may be empty.
struct TrainingHooks {
  std::function<void(Parameters&)> settings;
  std::function<void(TrainingOptions&)> attach;
  // The settings made: the state of training to go on from.
  std::function<TrainingState(const Parameters&)> resume;
};
GeneralisedFit fit_generalised(const TrainingArguments& t, const SparseArguments& a,
                               const TrainingData& d, const std::string& kernel,
                               const TrainingHooks& hooks);

// accuracy nlpd auc brier ece for classes, else rmse mae smse nlpd; y as the likelihood takes it.
json generalised_scores(const GeneralisedFit& fit, ConstRows X, ConstVector y, ConstVector aux,
                        double threshold);
// accuracy nlpd auc brier ece and the confusion matrix of any classifier's probabilities.
json class_scores(const RowMatrix& probabilities, ConstVector y,
                  const std::vector<std::string>& classes, double threshold);

// Held-out scores over folds: the means of those above, and nlpd with its standard error.
struct FoldScores {
  json object;
  std::string text;
  std::vector<double> nlpd;  // of each row with a target
};
FoldScores cross_validate_generalised(const TrainingArguments& t, const SparseArguments& a,
                                      const TrainingData& d, const std::string& kernel,
                                      const std::vector<Split>& folds);

// Kernels and models side by side on the same folds, with logistic regression, nearest neighbours
// and the majority where there are classes.
Outcome compare_generalised(const TrainingArguments& a, const SparseArguments& sparse,
                            const std::vector<std::string>& kernels,
                            const std::vector<std::string>& models, const TrainingData& d,
                            const std::vector<Split>& folds, const Common& common);

}  // namespace covary::cli
