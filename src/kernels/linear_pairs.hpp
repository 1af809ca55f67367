#pragma once

#include "kernels/gaussian_pair.hpp"

namespace covary {

// Ψ2 of a term that is linear and nothing else, and its pullback: with V = Z·diag(c) and
// T = Σ_i (μμᵀ + diag S) it is σ⁴VTVᵀ, which costs next to nothing.
void linear_psi2(const TermValues& term, const RowBlock& Z, const GaussianBlock& x, MatrixOut sum);
void linear_psi2_pullback(const TermValues& term, const RowBlock& Z, const GaussianBlock& x,
                          ConstMatrix bar, TermBars& term_bar, const GaussianBars& to);

}  // namespace covary
