#pragma once

#include "covary/linalg/types.hpp"

namespace covary {

// The first M frequencies of the eigenfunctions of exp(−|x − x′|/ℓ) over an interval of this
// length, rising (Burt 2018, section 3.5): ω_m is the zero of ωL − mπ − 2·atan(1/(ℓω)), the only
// one between mπ/L and (m + 1)π/L.
Vector exponential_roots(double lengthscale, double length, Index M);

}  // namespace covary
