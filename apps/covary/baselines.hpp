#pragma once

#include <cmath>

#include "common.hpp"
#include "covary/models/cross_validation.hpp"

namespace covary::cli {

// A kernel with a model, or something to beat, and how it did.
struct Candidate {
  std::string kernel, model, name;
  double value = std::nan("");    // log evidence at the best parameters, or its bound
  double laplace = std::nan("");  // with the parameters integrated out
  double probability = 0.0;
  bool converged = false;
  FoldScores scores;
  double seconds = 0.0;
  std::string note;  // why it could not be scored

  Score nlpd() const {
    return scores.held_out.nlpd.empty() ? Score{std::nan(""), std::nan("")}
                                        : mean_score(scores.held_out.nlpd);
  }
  Score rmse() const {
    return scores.held_out.squared_error.empty() ? Score{std::nan(""), std::nan("")}
                                                 : root_mean_score(scores.held_out.squared_error);
  }
};

// What is no Gaussian process: nearest neighbours and the mean of numbers; logistic regression,
// nearest neighbours and the majority of classes; nothing of other targets.
std::vector<Candidate> baselines(const ModelData& d, const std::vector<Split>& folds);

}  // namespace covary::cli
