#pragma once

#include <vector>

#include "covary/kernels/kernel.hpp"
#include "covary/linalg/cholesky.hpp"

namespace covary {

// The log evidence of exact regression, Y = F + noise with the columns of F independent draws from
// GP(0, k): Σ_p log N(y_p; 0, Kff + Σ), Σ = noise_variance·I + diag(point_noise). One fused
// operation: factor, inverse in place and kernel tiles recomputed, in one N×N array; N³ flops with
// gradients.
struct ExactGradient {
  Vector theta_bar;        // ∂/∂(kernel parameters)
  double noise_bar = 0.0;  // ∂/∂noise_variance
  Vector point_noise_bar;  // ∂/∂(noise variance of each row)
  Matrix Y_bar;            // ∂/∂Y: −K⁻¹Y
  RowMatrix X_bar;         // ∂/∂X, if want_X
  bool want_X = false;
};

// Y: N×P, NaN where missing. Columns with one pattern of missing rows share a factorisation.
// point_noise: N extra noise variances, or empty. workspace: kept from call to call, it spares the
// system from handing out N² fresh doubles each time.
double exact_log_evidence(const Kernel& kernel, ConstVector theta, ConstRows X, ConstMatrix Y,
                          double noise_variance, ConstVector point_noise, Jitter& jitter,
                          ExactGradient* gradient = nullptr, Matrix* workspace = nullptr);

// The rows observed by some columns of Y, and those columns.
struct Pattern {
  std::vector<Index> columns, rows;
};
// Columns grouped by their missing rows, in order of first appearance; columns with nothing
// observed throw InputError.
std::vector<Pattern> missing_patterns(ConstMatrix Y);

}  // namespace covary
