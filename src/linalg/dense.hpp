#pragma once

#include "covary/linalg/types.hpp"

namespace covary {

// Large dense factorisations by tiles over single-threaded BLAS, in place on the lower triangle.

// A → L. Returns −1, or the row of the first pivot that was not positive.
Index factor_tiles(MatrixOut A);
// L → L⁻¹
void invert_triangle_tiles(MatrixOut L);
// W → WᵀW (lower triangle), W lower triangular
void square_triangle_tiles(MatrixOut W);

}  // namespace covary
