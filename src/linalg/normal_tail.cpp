#include "covary/linalg/normal_tail.hpp"

#include <algorithm>
#include <cmath>

#include "covary/linalg/special.hpp"

namespace covary {

NormalTail normal_tail(double z) {
  if (!(z < -5.0)) {
    const double small = normal_cdf(-std::abs(z)), cdf = z > 0.0 ? 1.0 - small : small;
    const double r = normal_pdf(z) / cdf;
    return {z > 0.0 ? std::log1p(-small) : std::log(small), r, r + z};
  }
  // Laplace's continued fraction, x = −z: φ/Φ = x + 1/(x + 2/(x + 3/(x + …)))
  const double x = -z;
  double rest = x;
  // As many terms as give all figures: 48 at 5, 18 at 10, 8 far out.
  const int terms = 8 + static_cast<int>(1000.0 / std::min(x * x, 1e6));
  for (int k = terms; k >= 2; --k) rest = x + k / rest;
  const double h = 1.0 / rest, r = x + h;
  return {normal_log_pdf(z) - std::log(r), r, h};
}

}  // namespace covary
