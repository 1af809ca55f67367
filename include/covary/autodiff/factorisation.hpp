#pragma once

#include <string>

#include "covary/autodiff/tape.hpp"
#include "covary/linalg/blas.hpp"
#include "covary/linalg/cholesky.hpp"

namespace covary {

// L with LLᵀ = A + jitter·I for a symmetric A (its lower triangle is read; its adjoint is
// symmetric). The jitter follows the policy of linalg; where it is relative to the mean diagonal it
// is differentiated as such, so gradients stay exact on every rung of the ladder.
Var cholesky(Var A, const std::string& name = "matrix");
Var cholesky(Var A, Jitter& jitter, const std::string& name = "matrix");

// log|A| of a symmetric positive definite A, when its factor is wanted for nothing else.
Var log_determinant(Var A, const std::string& name = "matrix");
Var log_determinant(Var A, Jitter& jitter, const std::string& name = "matrix");
// log|LLᵀ| = 2 Σ log Lᵢᵢ
Var log_determinant_of_factor(Var L);

// op(L)⁻¹B and B·op(L)⁻¹ for a lower-triangular L; the part above the diagonal is not read.
Var solve_lower(Var L, Var B, Op op = Op::none);
Var solve_lower_right(Var L, Var B, Op op = Op::none);

}  // namespace covary
