#pragma once

#include <string>

#include "covary/linalg/types.hpp"

namespace covary {

// Hot loops over raw memory, compiled for the baseline, for AVX2/FMA and for AVX-512 and chosen at
// run time.

// out[i] = factor·exp(slope·x[i]); the exponential within 4e-16 relative, 0 below −708; out may be
// x.
void vector_exp(const double* x, double* out, Index n, double slope = 1.0, double factor = 1.0);
// out[i] = log(1 + exp(x[i])) and 1/(1 + exp(−x[i])), within 1e-15 relative; 0 below −708.
void vector_softplus(const double* x, double* out, Index n);
void vector_sigmoid(const double* x, double* out, Index n);
// out[i] = c·x[i]·y[i], and their sum; out may be x or y.
double vector_product(double c, const double* x, const double* y, double* out, Index n);
// For a tile of nx × nz pairs, column-major with leading dimension nx: r2 = Σ_d (x_d − z_d)².
// x and z are dimension-major: x[d·nx + i], z[d·nz + j].
void squared_distances(const double* x, Index nx, const double* z, Index nz, Index dims,
                       double* r2);
// The pullback of squared_distances for weights W = ∂/∂r2 (nx × nz):
// per_dim[d] += Σ_ij W_ij (x_di − z_dj)²; where not null, xbar[d·nx+i] += Σ_j 2W_ij(x_di − z_dj)
// and zbar[d·nz+j] −= Σ_i 2W_ij(x_di − z_dj).
void squared_distances_pullback(const double* x, Index nx, const double* z, Index nz, Index dims,
                                const double* W, double* per_dim, double* xbar, double* zbar);
// Which build is in use: "avx512", "avx2" or "baseline".
std::string simd_level();
// Selects a build by that name, of those that the machine can run, for tests; "auto" restores the
// choice by machine.
void set_simd_level(const std::string& level);

}  // namespace covary
