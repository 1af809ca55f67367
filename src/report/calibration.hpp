#pragma once

#include <string>
#include <vector>

#include "covary/report/chart.hpp"

namespace covary {

// Gaussian predictions of one output beside what was observed: rows with a value, a finite mean and
// a positive variance.
struct Predictions {
  Vector y, mean, variance;
  std::vector<Index> rows;  // in the table they come from

  Index size() const { return y.size(); }
  Vector standardised() const;
};
Predictions observed_predictions(ConstVector y, ConstVector mean, ConstVector variance);

// Predicted against observed, standardised residuals, PIT and coverage.
std::vector<Figure> calibration_figures(const Predictions& p, const std::string& output);

// The scores of one output as cells of a table, "–" where one has no value.
std::vector<std::string> score_names();
std::vector<std::string> score_cells(const Predictions& p);

// What the numbers warn of, in plain words; `what` says of which predictions.
std::vector<std::string> calibration_warnings(const Predictions& p, const std::string& what);

}  // namespace covary
