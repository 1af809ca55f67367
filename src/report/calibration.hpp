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

// The first and the third of them, for predictions that are not Gaussian.
Figure predicted_against_observed(ConstVector y, ConstVector mean, const std::string& output);
// P(Y < y) and P(Y ≤ y) of each observation, which differ where y counts something: it is then
// spread evenly between the two (Czado, Gneiting & Held 2009).
Figure pit_histogram(ConstVector below, ConstVector at_most);

// The scores of one output as cells of a table, "–" where one has no value.
std::vector<std::string> score_names();
std::vector<std::string> score_cells(const Predictions& p);

// What the numbers warn of, in plain words; `what` says of which predictions.
std::vector<std::string> calibration_warnings(const Predictions& p, const std::string& what);

}  // namespace covary
