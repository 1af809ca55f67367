#pragma once

#include <nlohmann/json.hpp>

#include "covary/inference/regression_posterior.hpp"
#include "covary/storage/container.hpp"

namespace covary {

// A posterior as (kind, JSON, named arrays): "model", "kernel", "mean" and what the kind needs.
void put_posterior(const RegressionPosterior& posterior, Container& c, nlohmann::json& j);
// FileError for anything that is no posterior.
RegressionPosterior get_posterior(const Container& c, const nlohmann::json& j);

}  // namespace covary
