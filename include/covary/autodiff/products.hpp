#pragma once

#include "covary/autodiff/tape.hpp"
#include "covary/linalg/blas.hpp"

namespace covary {

// op(A)·op(B)
Var matmul(Var A, Var B, Op opA = Op::none, Op opB = Op::none);
Var matmul_tn(Var A, Var B);  // AᵀB
Var matmul_nt(Var A, Var B);  // ABᵀ
// As on the page: A·B, where a 1×1 operand is a scalar factor.
Var operator*(Var A, Var B);

// Σᵢⱼ Aᵢⱼ·Bᵢⱼ = tr(AᵀB), without forming the product.
Var frobenius(Var A, Var B);
Var dot(Var a, Var b);  // the same, for vectors

}  // namespace covary
