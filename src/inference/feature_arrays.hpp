#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "covary/features/features.hpp"
#include "covary/storage/container.hpp"

namespace covary {

// Inducing variables and their parameters, in arrays whose names begin with a prefix: of points Z,
// of others z and, of eigenfunctions and products of waves, degrees, with "features",
// "feature_size" and "feature_dims" in the JSON; of stacked ones the same for every part, under
// "feature_parts" and with its number in the names.
struct StoredFeatures {
  FeaturesPtr features;
  Vector z;
};
void put_features(const StoredFeatures& u, const std::string& prefix, Container& c,
                  nlohmann::json& j);
// FileError for anything that is no features of this kernel.
StoredFeatures get_features(const Container& c, const nlohmann::json& j, const std::string& prefix,
                            const Kernel& kernel);

}  // namespace covary
