#pragma once

#include <functional>
#include <optional>

#include "covary/linalg/types.hpp"

namespace covary {

// φ(step) = f(u + step·d) with all that was computed there.
struct LinePoint {
  double step = 0.0;
  double value = 0.0;
  double slope = 0.0;  // φ′
  Vector u, gradient;
};

struct LineSearch {
  double value = 0.0;  // φ(0)
  double slope = 0.0;  // φ′(0) < 0
  double first_step = 1.0;
  double noise = 0.0;                                             // absolute
  std::function<std::optional<LinePoint>(double step)> evaluate;  // nothing when it fails
  std::function<bool()> give_up;                                  // asked before every evaluation
};

// A point that satisfies the strong Wolfe conditions, or the curvature condition and a value not
// above φ(0) + noise. Failing both within the trials allowed, the lowest point below φ(0), if there
// is one.
std::optional<LinePoint> search(const LineSearch& line);

}  // namespace covary
