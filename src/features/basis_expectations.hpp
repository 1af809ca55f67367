#pragma once

#include <memory>

#include "covary/kernels/expectations.hpp"

namespace covary {

// Expectations of u_m = Σ_c w_mc f(z_m⁽ᶜ⁾) from those of all points f(z_m⁽ᶜ⁾), row c·M + m of Z:
// sums of theirs, and weighted sums of their Ψ2 over the pairs of points.
std::unique_ptr<GaussianExpectations> basis_expectations(const Kernel& kernel, const double* theta,
                                                         const RowBlock& Z, RowMatrix weights);

}  // namespace covary
