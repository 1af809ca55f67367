#pragma once

#include <nlohmann/json.hpp>

#include "covary/models/ppca.hpp"
#include "covary/storage/container.hpp"

namespace covary {

// Probabilistic principal components: the components, the noise and the means of the rows.
Container ppca_container(const PpcaFit& fit);
// FileError for anything that is none.
PpcaFit ppca_from(const Container& c, const nlohmann::json& j);

}  // namespace covary
