#pragma once

#include <nlohmann/json.hpp>

#include "covary/models/map_gplvm.hpp"
#include "covary/storage/container.hpp"

namespace covary {

// A GP-LVM whose inputs are points: the exact posteriors of its views, and its back constraint.
Container map_gplvm_container(const MapGplvmFit& fit);
// FileError for anything that is none.
MapGplvmFit map_gplvm_from(const Container& c, const nlohmann::json& j);

}  // namespace covary
