#pragma once

#include <cstdint>
#include <vector>

#include "covary/features/features.hpp"

namespace covary {

// Variational Fourier features of one column and a Matérn kernel of order 1/2, 3/2 or 5/2 (Hensman,
// Durrande & Solin 2018): u are the inner products, in the kernel's Hilbert space over [a, b], of f
// with 1, cos ω_k(x − a) and sin ω_k(x − a), ω_k = 2πk/(b − a), k = 1 … K. Inside the interval
// Kuf is those functions themselves, whatever the kernel's parameters are; outside, what the Markov
// property of f leaves of them. Kuu is a diagonal and a few rank-one terms.
//
// The functions are periodic, and f is not: near the ends the features say less, so the interval
// should reach a few lengthscales beyond the data. Parameter: features.interval (a, b), fixed
// unless it is freed. M = 2K + 1.
FeaturesPtr fourier_features(const Kernel& kernel, double a, double b, Index harmonics);

// Of several columns: products of such functions of one column each, for a product of such kernels,
// one for each column ("matern32@0 * matern12@1"). Kuu and Kuf are products of those of the
// columns. Parameter: features.interval (D×2), fixed unless it is freed.
//
// harmonics: M×D; k ≥ 0 is cos ω_k(x − a) and −k is sin ω_k(x − a).
FeaturesPtr fourier_products(const Kernel& kernel, ConstRows intervals,
                             const Eigen::MatrixX<Index>& harmonics);
// The M products with the largest spectral densities.
Eigen::MatrixX<Index> largest_harmonics(const Kernel& kernel, ConstVector theta,
                                        ConstRows intervals, Index M);
// The harmonics of such products, row by row; none of any other features.
std::vector<std::int64_t> harmonics_of(const Features& features);

// E[(f − its projection)(x)²] that no number of harmonics removes, for x inside [a, b]: what
// periodicity costs (Matérn 1/2 only has it in this closed form).
double periodic_defect(double variance, double lengthscale, double a, double b, double x);

}  // namespace covary
