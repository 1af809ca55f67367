#pragma once

#include <functional>

#include "covary/random/random.hpp"

namespace covary {

// One step of elliptical slice sampling (Murray, Adams & MacKay 2010) of h, whose prior is Gaussian
// with mean zero: a point of the ellipse through h and another draw of the prior, above a random
// height. log_p is log_density(h), before and after. The bracket shrinks towards h itself, so it
// ends.
void elliptical_slice_step(const Matrix& other,
                           const std::function<double(const Matrix&)>& log_density, Random& random,
                           Matrix& h, double& log_p);

}  // namespace covary
