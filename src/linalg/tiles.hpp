#pragma once

#include <algorithm>
#include <utility>

#include "covary/linalg/types.hpp"

namespace covary {

// The fixed partition of 0 … n−1 that threaded dense operations share. It depends on n alone, never
// on the number of threads, which is why results do not either.
class Tiles {
 public:
  // About six tiles, none below 64 or above 256 wide: enough to share out, large enough for BLAS.
  explicit Tiles(Index n) : Tiles(n, std::clamp<Index>((n / 6 + 15) / 16 * 16, 64, 256)) {}
  Tiles(Index n, Index width) : n_(n), width_(width) {}
  // Wider, for triangular solves and products: BLAS packs the whole triangle anew for each strip.
  static Tiles strips(Index n) { return {n, std::clamp<Index>((n / 4 + 7) / 8 * 8, 48, 512)}; }
  Index count() const { return (n_ + width_ - 1) / width_; }
  Index begin(Index t) const { return t * width_; }
  Index end(Index t) const { return std::min(n_, (t + 1) * width_); }
  Index size(Index t) const { return end(t) - begin(t); }
  // Tiles (i, j) with i ≥ j, numbered column by column.
  Index lower_count() const { return count() * (count() + 1) / 2; }
  std::pair<Index, Index> lower(Index t) const {
    Index j = 0;
    for (Index left = count(); t >= left; --left, ++j) t -= left;
    return {j + t, j};
  }

 private:
  Index n_, width_;
};

}  // namespace covary
