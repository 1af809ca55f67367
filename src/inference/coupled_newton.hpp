#pragma once

#include <functional>

#include "covary/linalg/types.hpp"

namespace covary {

// A column for each latent function.
using BlockMap = std::function<Matrix(const Matrix&)>;

// Newton's step d, P·d = r, for the means of several functions that matter together, by conjugate
// gradients in the metric of a precision P₀ ≈ P that takes each function alone. With it alone, what
// functions have in common moves as slowly as P is below P₀: hundreds of times too slow under a
// wide prior. Where P is not positive definite the step ends before the direction that shows it, so
// it climbs in any case.
//
// `precondition` gives P₀⁻¹r, and may append rows for the use of `apply`, which gives P·d; the
// answer has those rows too.
Matrix coupled_step(Matrix r, const BlockMap& precondition, const BlockMap& apply);

// out_k += Σ_l c_kl ∘ d_l for the pairs k ≠ l, c being N × pairs (0,1), (0,2), …, (1,2), ….
void add_coupled(const Matrix& coupling, const Matrix& d, double factor, Matrix& out);

}  // namespace covary
