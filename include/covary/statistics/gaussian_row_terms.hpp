#pragma once

#include <vector>

#include "covary/statistics/expectations.hpp"
#include "covary/statistics/row_terms.hpp"

namespace covary {

// row_terms() of Gaussian noise over rows whose inputs are Gaussian, in closed form (Titsias &
// Lawrence 2010, uncollapsed): with C = L⁻¹Ψ2L⁻ᵀ/σ² and b = L⁻¹ψ1ᵀy/σ² of the rows where output p
// is observed,
//   −½(n log 2πσ² + |y|²/σ²) + mᵀb − ½tr C(mmᵀ + S) − ½(ψ0/σ² − tr C).
// One function for each output; `columns` are the outputs with something observed, grouped by their
// missing rows. c.noise is σ², the likelihood's one parameter. `rows`, unless null, becomes the
// gradient by the distributions of the inputs, with all adjoints.
RowTermSums gaussian_row_terms(const SweepContext& c, const WhitenedGaussian& q, const Sweep& sweep,
                               const std::vector<std::vector<Index>>& columns, RowAdjoints adjoints,
                               GaussianRowGradient* rows = nullptr);

}  // namespace covary
