#pragma once

#include <string>

#include "covary/models/gplvm_fit.hpp"
#include "covary/models/ppca.hpp"

namespace covary {

struct LatentReportOptions {
  std::string title = "A latent-variable model";
};

// One self-contained HTML page: which dimensions are in use and by which view, the map of the rows
// over the two that count most, courses over time of a dynamical model, and how well rows are
// reconstructed.
std::string latent_report(const GplvmFit& fit, const LatentReportOptions& options = {});
// The same of probabilistic principal components.
std::string latent_report(const PpcaFit& fit, const LatentReportOptions& options = {});

}  // namespace covary
