#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "covary/models/regression.hpp"

namespace covary {

// Rows that training did not see, in the units of the data. X: n×D; Y: n×P, NaN where missing.
struct HeldOutData {
  std::string name;
  RowMatrix X, Y;
};

struct RegressionReportOptions {
  std::string title = "Gaussian-process regression";
  std::optional<HeldOutData> held_out;
  Index draws = 4;  // of the function, in the picture of a fit on one input
  std::uint64_t seed = 0;
  Index most_slices = 8;   // of the inputs, those that matter most
  Index most_outputs = 4;  // drawn; the tables have all

  void check() const;
};

// One self-contained HTML page on a fit: what was fitted, warnings, parameters, evidence, training,
// relevance, the fit or slices of it, components, and calibration by leave-one-out and on held-out
// data. Costs an inverse of N×N and some hundred predictions for each slice.
std::string regression_report(const RegressionFit& fit,
                              const RegressionReportOptions& options = {});

}  // namespace covary
