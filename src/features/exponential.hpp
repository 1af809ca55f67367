#pragma once

#include "covary/features/features.hpp"

namespace covary {

// Integrals of f over an interval, for matern12 = v·exp(−|x − x′|/ℓ) in one column, whose Markov
// property makes them easy beyond the interval: Kuf there is that of the nearer end times
// exp(−distance/ℓ). Parameters: features.centre, features.length of the interval.

// Its eigenfunctions over the interval (Burt 2018, section 3.5), white:
// ψ_m(x) = √(λ_m·2/(L + λ_m/v))·{cos, sin}(ω_m(x − centre)), λ_m = 2ℓv/(1 + ω_m²ℓ²), cosines of
// even m, sines of odd. Their name is "eigen", as that of the eigenfunctions of se.
FeaturesPtr exponential_eigen_features(const Kernel& kernel, double centre, double length, Index M);

// ∫ f(x)·{1, cos ω_k(x − centre), sin ω_k(x − centre)}dx, ω_k = 2πk/L, k = 1 … harmonics: Fourier
// features in L² (Hensman, Durrande & Solin 2018), named "fourier(l2)". M = 2·harmonics + 1.
FeaturesPtr l2_fourier_features(const Kernel& kernel, double centre, double length,
                                Index harmonics);

}  // namespace covary
