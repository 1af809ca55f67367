#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "covary/linalg/types.hpp"

namespace covary {

// Inputs that cover one or two dimensions, for a picture of the probabilities.
struct ClassGrid {
  std::vector<Vector> axes;  // one or two, each rising
  RowMatrix probabilities;   // a row for each row of inputs(), a column for each class

  // Evenly over the range of X and a little beyond. InputError for more than two columns.
  static ClassGrid over(ConstRows X);
  RowMatrix inputs() const;  // the second axis runs fastest
};

// Predictions to be scored, and where they come from: "held-out", "leave-one-out", ….
struct ClassPredictions {
  std::string name;
  Vector labels;            // 0 … K−1; NaN where missing
  RowMatrix probabilities;  // N×K
  RowMatrix X = {};         // N×D, to be shown beside doubtful cases; may be empty
};

// All that a page shows, whatever model it is of: the caller fills in what there is.
struct ClassificationReport {
  std::string title = "Gaussian-process classification";
  std::string lead;                                          // a sentence on what was fitted
  std::vector<std::string> classes;                          // K names
  std::vector<std::string> input_names;                      // D, or none
  std::vector<std::pair<std::string, std::string>> summary;  // (name, value) of the fit
  std::vector<std::string> warnings;
  std::vector<ClassPredictions> predictions;

  // The picture, for one or two inputs: probabilities over a grid, with training rows and inducing
  // inputs where given.
  std::optional<ClassGrid> grid;
  RowMatrix X = {};    // N×D
  Vector labels = {};  // N
  RowMatrix Z = {};    // M×D

  // InputError for shapes that do not fit each other.
  void check() const;
};

// One self-contained HTML page: scores, warnings in plain words, the probabilities over the inputs,
// ROC curves, reliability, confusion, and the cases to look at.
std::string classification_report(const ClassificationReport& report);

}  // namespace covary
