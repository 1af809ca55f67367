#pragma once

#include "covary/data/split.hpp"
#include "covary/models/request.hpp"

namespace covary {

// The folds of --folds: K random ones, or one for each label of its column.
std::vector<Split> make_folds(const FitOptions& o, const ModelData& d);

// Scores of every held-out observation, in the order of folds, rows and outputs, so that those of
// two models can be compared one by one.
struct FoldScores {
  std::size_t folds = 0;
  HeldOut held_out;

  void add(const HeldOut& fold);
  bool has_classes() const { return !held_out.right.empty(); }
  double accuracy() const;
  Answer answer() const;
};
// By the model of a request, trained on each fold's rows.
FoldScores cross_validate(const FitRequest& request, const std::vector<Split>& folds);

// A mean over observations with its standard error.
struct Score {
  double mean = 0.0, error = 0.0;
};
Score mean_score(const std::vector<double>& values);
Score root_mean_score(const std::vector<double>& squares);  // of √mean, by the delta method

}  // namespace covary
