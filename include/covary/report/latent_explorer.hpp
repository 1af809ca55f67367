#pragma once

#include <string>

#include "covary/models/gplvm_fit.hpp"

namespace covary {

struct LatentExplorerOptions {
  std::string title = "A latent space to walk through";
  // How the outputs of a view are drawn: "curve", "bars", "image(16x16)" (rows × columns, row by
  // row), "points(2)" or "points(3)" (coordinates point by point). "auto": an image where the
  // number of outputs is a square from 64 on, bars of up to 12 outputs, else a curve. What does not
  // fit a view is drawn as by auto; InputError if it fits none.
  std::string draw = "auto";
};

// One self-contained HTML page where moving the pointer over the map of the rows draws what the
// model decodes there: the posterior's weights are in the page, and its own script decodes. Kernels
// with closed expectations only, and at most 400 000 weights.
std::string latent_explorer(const GplvmFit& fit, const LatentExplorerOptions& options = {});

}  // namespace covary
