#pragma once

#include <vector>

#include "covary/models/gplvm_fit.hpp"

namespace covary {

constexpr Index usual_latent_inducing = 50;  // of a mapping

// InputError for a table that no latent-variable model can learn from: fewer than two rows, an
// infinite cell, a row without an observed one.
void check_latent_outputs(ConstRows Y);
// One view of all P columns for none; InputError unless each column is in one view, and each view
// has some.
std::vector<LatentView> checked_views(std::vector<LatentView> views, Index P);

// Column means in place of what is missing: a start needs no more.
RowMatrix filled(const RowMatrix& Y);

}  // namespace covary
