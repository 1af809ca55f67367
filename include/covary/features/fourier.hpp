#pragma once

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

// E[(f − its projection)(x)²] that no number of harmonics removes, for x inside [a, b]: what
// periodicity costs (Matérn 1/2 only has it in this closed form).
double periodic_defect(double variance, double lengthscale, double a, double b, double x);

}  // namespace covary
