#pragma once

#include "covary/features/features.hpp"
#include "covary/linalg/blas.hpp"

namespace covary {

// With the lower factor of these features' Kuu, block by block: white blocks, whose factor is I,
// cost nothing. B ← op(Luu)⁻¹·B.
void solve_Luu(const Features& features, ConstMatrix Luu, MatrixOut B, Op op = Op::none);
// B ← B·op(Luu)⁻¹
void solve_Luu_right(const Features& features, ConstMatrix Luu, MatrixOut B, Op op = Op::none);

}  // namespace covary
