#include "features/matern_space.hpp"

#include <cmath>

namespace covary {

// S(ω): 2λv/(λ² + ω²), 4λ³v/(λ² + ω²)², (16/3)λ⁵v/(λ² + ω²)³.
double MaternSpace::inverse_density(double omega) const {
  const double s = lambda * lambda + omega * omega;
  switch (p) {
    case 0:
      return s / (2.0 * lambda * v);
    case 1:
      return s * s / (4.0 * std::pow(lambda, 3) * v);
    default:
      return 3.0 * s * s * s / (16.0 * std::pow(lambda, 5) * v);
  }
}

// From the inverse of the covariance of (f, f′, f″) at the end, factored: of order 5/2
// 9/8·(1 − x²/3)(1 − y²/3) + x²y² for cosines and 3xy for sines.
MaternSpace::End MaternSpace::end(int j, double x) const {
  const double root = std::sqrt(9.0 / 8.0), sine = p == 1 ? x : std::sqrt(3.0) * x, x2 = x * x;
  if (p > 0 && j == p) return {true, sine, sine};
  if (p < 2) return {false, 1.0, 0.0};
  return j == 0 ? End{false, root * (1.0 - x2 / 3.0), -2.0 / 3.0 * root * x2}
                : End{false, -x2, -2.0 * x2};
}

MaternSpace::Beyond MaternSpace::beyond(double d) const {
  const double e = std::exp(-lambda * d), t = lambda * d;
  switch (p) {
    case 0:
      return {e, 0.0, 0.0};
    case 1:
      return {e * (1.0 + t), e * d, 0.0};
    default:
      return {e * (1.0 + t + 0.5 * t * t), e * d * (1.0 + t), 0.5 * e * d * d};
  }
}

MaternSpace::Beyond MaternSpace::beyond_by_distance(double d) const {
  const double e = std::exp(-lambda * d), t = lambda * d;
  switch (p) {
    case 0:
      return {-lambda * e, 0.0, 0.0};
    case 1:
      return {-lambda * t * e, e * (1.0 - t), 0.0};
    default:
      return {-0.5 * lambda * t * t * e, e * (1.0 + t - t * t), e * d * (1.0 - 0.5 * t)};
  }
}

MaternSpace::Beyond MaternSpace::beyond_by_lambda(double d) const {
  const double e = std::exp(-lambda * d), t = lambda * d;
  switch (p) {
    case 0:
      return {-d * e, 0.0, 0.0};
    case 1:
      return {-d * t * e, -d * d * e, 0.0};
    default:
      return {-0.5 * d * t * t * e, -d * d * t * e, -0.5 * d * d * d * e};
  }
}

}  // namespace covary
