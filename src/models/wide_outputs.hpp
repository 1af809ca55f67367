#pragma once

#include "covary/inference/latent_inputs.hpp"
#include "covary/inference/sparse.hpp"

namespace covary {

// Many more output columns than rows: a bound sees Y through YYᵀ alone, so that a factor of it with
// N columns, and the true number of columns, stand for Y while a model is trained.

bool is_wide(const RowMatrix& Y);  // and complete
// N×N with FFᵀ = YYᵀ, by QR over some columns at a time, so that nothing is squared.
RowMatrix outputs_factor(const RowMatrix& Y);
// The factors of q(u) for all columns of Y, from those at the same values for its factor.
SparseFactors with_all_columns(const SparseFactors& reduced, const RowMatrix& Y,
                               const Features& features, const SparseValues& values,
                               const Matrix& Luu, const LatentMarginals& q);

}  // namespace covary
