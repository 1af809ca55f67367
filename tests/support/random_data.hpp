#pragma once

#include <cmath>
#include <vector>

#include "covary/linalg/types.hpp"
#include "covary/random/random.hpp"

namespace covary::testing {

// A small regression problem: N×D normal inputs and P smooth outputs with a little noise.
struct SmallData {
  RowMatrix X, Y;
};

inline SmallData small_data(Index N, Index D, Index P, std::uint64_t seed) {
  Random random(seed);
  SmallData out{random.normal_matrix(N, D), RowMatrix(N, P)};
  for (Index i = 0; i < N; ++i)
    for (Index p = 0; p < P; ++p)
      out.Y(i, p) = std::sin(1.5 * out.X(i, 0) + static_cast<double>(p)) +
                    0.3 * out.X.row(i).sum() + 0.1 * random.normal();
  return out;
}

}  // namespace covary::testing
