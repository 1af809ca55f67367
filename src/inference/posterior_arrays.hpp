#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "covary/inference/posterior.hpp"
#include "covary/storage/container.hpp"
#include "storage/archive.hpp"

namespace covary {

// A posterior as (kind, JSON, named arrays): the kind is under "posterior".
void put_posterior(const Posterior& posterior, Container& c, nlohmann::json& j);
// FileError for anything that is no posterior.
Posterior get_posterior(const Container& c, const nlohmann::json& j);

// The kinds, each next to its class.
Posterior restore_exact(const Container& c, const nlohmann::json& j);
Posterior restore_factors(const Container& c, const nlohmann::json& j);
Posterior restore_rows(const Container& c, const nlohmann::json& j);
Posterior restore_joint(const Container& c, const nlohmann::json& j);
Posterior restore_inducing(const Container& c, const nlohmann::json& j);

// What their files have alike.

// FileError for a model without rows or columns, or whose N×N factor is more than this machine
// holds: a small file can name many rows, and asking for more memory than there is may end the
// process instead of failing.
void check_size(const Container& c, Index rows, Index dims, Index outputs);
void check_finite(const Container& c, bool finite);
// A factor of a covariance: lower triangular, finite, with a positive diagonal; FileError
// otherwise.
Matrix get_factor(const Container& c, const std::string& name, Index M);
std::string numbered(const char* of, std::size_t i, const char* name);
// A list of expressions; those that are repeated are one kernel.
std::vector<Kernel> get_kernels(const Container& c, const nlohmann::json& j);

}  // namespace covary
