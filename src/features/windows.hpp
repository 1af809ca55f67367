#pragma once

#include "covary/features/features.hpp"

namespace covary {

// Inter-domain inducing variables of kernels that are sums and products of se (Lázaro-Gredilla &
// Figueiras-Vidal 2009): u_m = ∫ f(x) N(x; μ_m, diag δ_m²) cos(ω₀ + ωᵀ(x − μ_m)) dx.
//
// Multi-scale: no cosine. Parameters: features.Z (μ, M×D), features.widths (δ, M×D). Narrow windows
// are inducing inputs, wide ones see further than a lengthscale.
FeaturesPtr multiscale_features(const Kernel& kernel, ConstRows Z, ConstRows widths);
// Sums of C of them each, as basis_features has of points: C·M windows, the first of all variables
// first; features.weights (M×C) besides.
FeaturesPtr multiscale_basis_features(const Kernel& kernel, ConstRows Z, ConstRows widths,
                                      ConstRows weights);
// Frequencies: one window for all. Parameters: features.centre (μ, 1×D), features.widths (δ, 1×D),
// features.frequencies (ω, M×D), features.phases (ω₀, M).
FeaturesPtr frequency_features(const Kernel& kernel, ConstVector centre, ConstVector widths,
                               ConstRows frequencies, ConstVector phases);
// Time and frequency: all of them, a window for each.
FeaturesPtr time_frequency_features(const Kernel& kernel, ConstRows Z, ConstRows widths,
                                    ConstRows frequencies, ConstVector phases);

}  // namespace covary
