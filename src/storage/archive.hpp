#pragma once

#include <nlohmann/json.hpp>

#include "covary/storage/container.hpp"

namespace covary {

// Where something stores itself: named arrays and JSON.
struct Archive {
  Container& arrays;
  nlohmann::json& json;
};

}  // namespace covary
