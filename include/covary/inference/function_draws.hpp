#pragma once

#include "covary/inference/sparse_posterior.hpp"

namespace covary {

// Draws of a sparse posterior as functions, as ExactPosterior::sample_functions: a prior draw of
// `features` random features, corrected at the inducing inputs by a draw of q(u). Unsupported
// unless the features are inducing points and the variance is that of a Gaussian process (neither
// "sor" nor "cglb").
std::vector<FunctionDraw> sample_functions(const SparsePosterior& posterior, Index draws,
                                           std::uint64_t seed, Index features = 2000);

}  // namespace covary
