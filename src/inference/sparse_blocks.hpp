#pragma once

#include <algorithm>
#include <functional>

#include "covary/linalg/parallel.hpp"
#include "features/blocks.hpp"

namespace covary {

inline RowBlock rows_of(ConstRows X, Index first, Index n) {
  return {X.data() + first * X.outerStride(), n, X.cols(), X.outerStride(), first};
}

// t1 = Luu⁻¹k_u(x) for some rows.
inline Matrix whitened(const Features& features, const double* theta, const double* z,
                       const Matrix& Luu, const RowBlock& x) {
  Matrix t(features.size(), x.n);
  features.Kuf(theta, z, x, t.data());
  solve_Luu(features, Luu, t);
  return t;
}

// 512 rows at a time, by threads.
inline void for_blocks(Index rows, const std::function<void(Index first, Index n)>& body) {
  constexpr Index block = 512;
  parallel_for((rows + block - 1) / block,
               [&](Index b) { body(b * block, std::min(block, rows - b * block)); });
}

}  // namespace covary
