#include "features/exponential_roots.hpp"

#include <cmath>
#include <numbers>

namespace covary {

// Newton's steps, halving where they leave the bracket; the function rises.
Vector exponential_roots(double lengthscale, double length, Index M) {
  Vector out(M);
  for (Index m = 0; m < M; ++m) {
    const double turns = std::numbers::pi * static_cast<double>(m);
    double low = turns / length, high = (turns + std::numbers::pi) / length;
    double omega = 0.5 * (low + high);
    for (int i = 0; i < 100; ++i) {
      const double lw = lengthscale * omega;
      // atan(1/t) without the quotient's overflow at t = 0
      const double g = omega * length - turns - 2.0 * std::atan2(1.0, lw);
      (g < 0.0 ? low : high) = omega;
      const double step = g / (length + 2.0 * lengthscale / (1.0 + lw * lw));
      double next = omega - step;
      if (!(next > low && next < high)) next = 0.5 * (low + high);
      if (std::abs(next - omega) <= 1e-16 * omega) break;
      omega = next;
    }
    out(m) = omega;
  }
  return out;
}

}  // namespace covary
