#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "covary/inference/regression_posterior.hpp"
#include "covary/storage/container.hpp"

namespace covary {

// FileError for a model without rows or columns, or whose N×N factor is more than this machine
// holds: a small file can name many rows, and asking for more memory than there is may end the
// process instead of failing.
void check_size(const Container& c, Index rows, Index dims, Index outputs);
// A factor of a covariance: lower triangular, finite, with a positive diagonal; FileError
// otherwise.
Matrix get_factor(const Container& c, const std::string& name, Index M);

// A posterior as (kind, JSON, named arrays): "model", "kernel", "mean" and what the kind needs.
void put_posterior(const RegressionPosterior& posterior, Container& c, nlohmann::json& j);
// FileError for anything that is no posterior.
RegressionPosterior get_posterior(const Container& c, const nlohmann::json& j);

}  // namespace covary
