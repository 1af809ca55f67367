#pragma once

#include "covary/features/features.hpp"

namespace covary {

// Inter-domain basis functions (van der Wilk 2019, section 4.4): u_m = Σ_c w_mc f(z_m⁽ᶜ⁾), M
// variables of C points each, for any kernel. The mean has M·C basis functions and the linear
// algebra is that of M. Parameters: features.Z, C·M rows of which the first M are the first points
// of all variables, then their second ones and so on; features.weights (M×C). C = 1 with weights 1
// is inducing points, and the size of a row of weights does not matter.
FeaturesPtr basis_features(const Kernel& kernel, ConstRows Z, ConstRows weights);

}  // namespace covary
