#pragma once

#include <nlohmann/json.hpp>

#include "covary/models/gplvm_fit.hpp"
#include "covary/storage/container.hpp"

namespace covary {

// A latent-variable model: the arrays of each view's mapping under "view<i>.", then q(X).
Container latent_container(const GplvmFit& fit);
// FileError for anything that is none.
GplvmFit latent_from(const Container& c, const nlohmann::json& j);

}  // namespace covary
