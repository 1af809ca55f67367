#pragma once

#include <nlohmann/json.hpp>

#include "covary/models/class_density.hpp"
#include "covary/storage/container.hpp"

namespace covary {

// Densities of classes: the latent-variable model of each, with its arrays under "class<k>.".
nlohmann::json put_class_density(const ClassDensityFit& fit, Container& c);
// FileError for anything that is none.
ClassDensityFit get_class_density(const Container& c, const nlohmann::json& j);

}  // namespace covary
