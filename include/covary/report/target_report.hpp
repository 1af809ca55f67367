#pragma once

#include <string>

#include "covary/models/generalised_fit.hpp"

namespace covary {

// Rows to score, in the units of the data. y: NaN where missing. aux: the column beside it, or
// empty.
struct TargetData {
  std::string name;
  RowMatrix X;
  Vector y, aux = {};
};

struct TargetReportOptions {
  std::string title = "Gaussian process of another likelihood";
  Index most_rows = 1000;  // whose distributions are tabulated, evenly spread; the scores have all

  void check() const;
};

// One self-contained HTML page on a fit of counts, outliers, shares, durations, …: scores, warnings
// in plain words, on one input the mean with its bands, observed against predicted, calibration by
// the probability integral transform and, of counts, a rootogram, and the fit. Unsupported for
// classes, which have a report of their own. Some 400 densities a row.
std::string target_report(const GeneralisedFit& fit, const TargetData& data,
                          const TargetReportOptions& options = {});

}  // namespace covary
