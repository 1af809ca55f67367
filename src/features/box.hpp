#pragma once

#include <algorithm>
#include <cmath>

#include "features/kinds.hpp"
#include "features/stationary_kernel.hpp"

namespace covary {

// The middle of each column and half its range, with room for two lengthscales on both sides if
// `pad`, or for as much of the range where that is less.
struct Box {
  Vector centre, half;
};
inline Box box_of(const StationaryKernel& kernel, const FeatureStart& s, bool pad) {
  const Vector low = s.X.colwise().minCoeff(), high = s.X.colwise().maxCoeff();
  const Vector w = kernel.at(s.theta.data()).w;
  Box out{0.5 * (low + high), (0.5 * (high - low)).cwiseMax(1e-12)};
  for (Index d = 0; pad && d < w.size(); ++d) {
    const double range = 2.0 * out.half(d);
    out.half(d) += w(d) > 0.0 ? std::clamp(2.0 / std::sqrt(w(d)), 0.1 * range, range) : 0.1 * range;
  }
  return out;
}

}  // namespace covary
