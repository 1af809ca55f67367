#pragma once

#include "covary/statistics/sweep.hpp"

namespace covary {

// Products with the N×N matrix Kff, white noise included, which is never stored: its tiles are made
// as they are needed, each pair of rows once, by the lanes of the sweep. The same bits for any
// number of threads.

// Kff·V for N×P V.
Matrix kernel_product(const KernelNode& kernel, const double* theta, const Sweep& sweep,
                      ConstMatrix V);

// ∂/∂θ, added to theta_bar, for K̄ = ½(RVᵀ + VRᵀ + VVᵀ) with N×P R and V.
void kernel_product_pullback(const KernelNode& kernel, const double* theta, const Sweep& sweep,
                             ConstMatrix R, ConstMatrix V, VectorOut theta_bar);

// Operations of one product, counting 3D + 30 for a value of the kernel.
double kernel_product_flops(Index rows, Index dims, Index outputs);

}  // namespace covary
