#pragma once

#include <optional>
#include <string>

#include "covary/models/gplvm_fit.hpp"
#include "covary/models/map_gplvm.hpp"
#include "covary/models/ppca.hpp"

namespace covary {

// Rows of a table and what the model makes of them.
struct HeldOutRows {
  std::string name;  // of the table
  RowMatrix Y;       // n×P, NaN where missing
  Prediction decoded;
};

struct LatentReportOptions {
  std::string title = "A latent-variable model";
  std::optional<HeldOutRows> held_out = {};
};

// One self-contained HTML page: which dimensions are in use and by which view, the map of the rows
// over the two that count most with what is left unknown between them, courses over time of a
// dynamical model, and rows of a table as the model gives them back.
std::string latent_report(const GplvmFit& fit, const LatentReportOptions& options = {});
// The same of a GP-LVM whose inputs are points.
std::string latent_report(const MapGplvmFit& fit, const LatentReportOptions& options = {});
// The same of probabilistic principal components.
std::string latent_report(const PpcaFit& fit, const LatentReportOptions& options = {});

}  // namespace covary
