#pragma once

#include <nlohmann/json.hpp>

#include "covary/inference/function_posterior.hpp"
#include "covary/storage/container.hpp"

namespace covary {

// The posterior of latent functions as JSON ("functions", "kernels", "mean") and named arrays.
void put_functions(const FunctionPosterior& posterior, Container& c, nlohmann::json& j);
// FileError for anything that is no such posterior.
FunctionPosterior get_functions(const Container& c, const nlohmann::json& j);

}  // namespace covary
