#pragma once

#include <cstdint>
#include <vector>

#include "covary/features/features.hpp"

namespace covary {

// Eigenfunctions of se, or of a product of them over columns, under a Gaussian measure of the
// inputs (Burt 2018, section 3.4): u_m = ∫ f φ_m dN(mean, sd²)/√λ_m, which are white: Kuu = I, and
// Kuf has rows ψ_m(x) = √λ_m φ_m(x), products of Hermite functions. Parameters: features.mean (D)
// and features.sd (D), those of the measure, which need not be that of the data.
//
// degrees: M×D, those of the functions of each column.
FeaturesPtr eigen_features(const Kernel& kernel, ConstVector mean, ConstVector sd,
                           const Eigen::MatrixX<Index>& degrees);

// The degrees of such features, row by row; none of any others.
std::vector<std::int64_t> degrees_of(const Features& features);

// λ_m = v(1 − B)Bᵐ of one column: B for a measure of this sd.
double eigenvalue_ratio(double lengthscale, double sd);
// The M largest products of eigenvalues, largest first, of columns with these ratios; equal ones by
// total degree, then in the order of the columns. A column of ratio 0 has degree 0 alone.
Eigen::MatrixX<Index> largest_degrees(ConstVector ratios, Index M);

}  // namespace covary
