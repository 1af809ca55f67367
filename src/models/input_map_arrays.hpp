#pragma once

#include <nlohmann/json.hpp>

#include "covary/models/input_map.hpp"
#include "covary/storage/container.hpp"

namespace covary {

// Principal components under "pca.", a GP-LVM of the inputs with all it has under "gplvm.", or
// nothing where the model sees the inputs themselves.
void put_input_map(const InputMap& map, Container& c, nlohmann::json& j);
// FileError for a map to another number of features than the model sees.
InputMap get_input_map(const Container& c, const nlohmann::json& j, Index features);

}  // namespace covary
