#pragma once

#include <string>

#include "covary/models/fit.hpp"

namespace covary {

struct FitReportOptions {
  std::string title = "A fit";
  const Table* held_out = nullptr;  // rows to score on
  std::string held_out_name = {};
  std::string exposure = {};  // its column there
};

// One self-contained HTML page on a fit of any model: the page of its kind, or one with what every
// fit has: what it is, the objective, the parameters and scores on the rows of a table.
std::string fit_report(const Fit& fit, const FitReportOptions& options);

}  // namespace covary
