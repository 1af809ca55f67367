#pragma once

#include "covary/features/features.hpp"

namespace covary {

// White features of any kernel with a spectral density in one column (Burt 2018, theorem 3.2.1,
// corrected): with orthonormal Hermite functions h_m and the density S, for m even (odd: sin)
//
//   cov(u_m, f(x)) = (2π)^{−½}·∫ √α·h_m(αω)·√S(ω)·cos(ω(x − centre)) dω,
//
// by quadrature to rounding. All M → ∞ of them are the kernel, by Parseval's identity. At
// α² = ½ℓ²·√(1 + 4·sd²/ℓ²) those of se are its eigenfunctions under N(centre, sd²). Parameters:
// features.centre, features.scale (α).
FeaturesPtr orthogonal_features(const Kernel& kernel, double centre, double scale, Index M);
// That α.
double orthogonal_scale(double lengthscale, double sd);

// The first M eigenvectors of K(X, X) at theta, fewer where its eigenvalues are rounding:
// u = Λ^{−½}Vᵀf(X), an oracle, for no M features leave a smaller trace at these rows and values.
// For any kernel, in O(N³) once and O(N·M) a row; they stay as they are when parameters are
// trained. Parameters: features.Z (X), features.vectors (VΛ^{−½}, N×M), held.
FeaturesPtr empirical_features(const Kernel& kernel, ConstVector theta, ConstRows X, Index M);
// From their parameters.
FeaturesPtr empirical_features(const Kernel& kernel, ConstRows X, ConstRows vectors);

}  // namespace covary
