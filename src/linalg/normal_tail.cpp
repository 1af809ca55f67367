#include "covary/linalg/normal_tail.hpp"

#include <cmath>

#include "covary/linalg/special.hpp"

namespace covary {

NormalTail normal_tail(double z) {
  if (!(z < -5.0)) {
    const double r = normal_pdf(z) / normal_cdf(z);
    return {r, r + z};
  }
  // Laplace's continued fraction, x = −z: φ/Φ = x + 1/(x + 2/(x + 3/(x + …)))
  const double x = -z;
  double rest = x;
  for (int k = 60; k >= 2; --k) rest = x + k / rest;
  const double h = 1.0 / rest;
  return {x + h, h};
}

}  // namespace covary
