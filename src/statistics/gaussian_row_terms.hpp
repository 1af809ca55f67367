#pragma once

#include "covary/statistics/row_terms.hpp"
#include "statistics/expectations.hpp"

namespace covary {

// row_terms() of Gaussian noise over rows whose inputs are Gaussian, in closed form (Titsias &
// Lawrence 2010, uncollapsed): with C = L⁻¹Ψ2L⁻ᵀ/σ² and b = L⁻¹ψ1ᵀy/σ² of the rows where output p
// is observed,
//   −½(n log 2πσ² + |y|²/σ²) + mᵀb − ½tr C(mmᵀ + S) − ½(ψ0/σ² − tr C).
// One function for each output; of a constant mean function y is the residual. c.noise is σ².
RowTermSums gaussian_row_terms(const SweepContext& c, const WhitenedGaussian& q, const Sweep& sweep,
                               RowAdjoints adjoints, GaussianRowGradient* of_inputs);

}  // namespace covary
