#pragma once

#include "covary/features/features.hpp"

namespace covary {

// Functions φ of models of their own, f = φ(x)ᵀw with w ~ N(0, I): Kuu = I and Kuf = φ(x), so that
// Qff is the covariance of that model, which SoR trains and predicts with exactly, in O(NM²). They
// are no inducing variables of the kernel: Qff may exceed Kff, and bounds do not hold of them.

// k ≈ (v/J)Σ_j cos ω_jᵀ(x − x′) (Rahimi & Recht 2008): √(v/J)·cos and sin of ω_jᵀx, M = 2J, for a
// kernel with a spectral density. directions: J×D, ω_jd = directions_jd/ℓ_d. Parameter:
// features.frequencies, held; or trained, which is the sparse-spectrum GP (Lázaro-Gredilla et al.
// 2010).
FeaturesPtr random_fourier_features(const Kernel& kernel, ConstRows directions);
FeaturesPtr sparse_spectrum_features(const Kernel& kernel, ConstRows directions);
// J directions drawn from the spectrum of a kernel in D columns.
RowMatrix draw_directions(const Kernel& kernel, Index J, Index D, std::uint64_t seed);

// Eigenfunctions of the Laplace operator on the box centre ± half_widths, zero at its faces (Solin
// & Särkkä 2020): √S(ω_j)·Π sin(ω_jd(x_d − centre_d + half_d))/√half_d, ω_jd = π·j_d/(2·half_d), S
// the kernel's spectral density; zero outside. degrees: M×D, from 1 on, and 0 of a column that the
// kernel does not see. Parameters: features.centre, features.half_widths, held.
FeaturesPtr hilbert_features(const Kernel& kernel, ConstVector centre, ConstVector half_widths,
                             const Eigen::MatrixX<Index>& degrees);
// The M degrees with the largest spectral density.
Eigen::MatrixX<Index> densest_degrees(const Kernel& kernel, ConstVector theta,
                                      ConstVector half_widths, Index M);

// Bayesian linear regression on the kernel's own shape at given places: k(x, z_m)/√k(z_m, z_m), of
// any kernel. Parameter: features.Z.
FeaturesPtr bump_features(const Kernel& kernel, ConstRows Z);

// Draws of f = φ(x)ᵀw at the rows X, n×draws, in O(nM) each at any number of rows; of any features
// that are white. Of eigenfunctions it is the Karhunen–Loève expansion of the prior, cut at M.
Matrix sample_by_features(const Features& white, ConstVector theta, ConstVector z, ConstRows X,
                          Index draws, std::uint64_t seed);

}  // namespace covary
