#include "linalg/dense.hpp"

#include "covary/linalg/blas.hpp"
#include "covary/linalg/parallel.hpp"
#include "linalg/lapack.hpp"

namespace covary {
namespace {

// Each algorithm splits [A11 ·; A21 A22] in halves, so that nearly all work is products and solves
// of large blocks, which are threaded; below this size LAPACK does it on one thread. That of
// triangular inverses is slow.
constexpr Index base = 128, inverse_base = 32;

int narrow(Index n) { return static_cast<int>(n); }
Index half(Index n) {
  const Index multiple = n > base ? 64 : 8;
  return (n / 2 + multiple - 1) / multiple * multiple;
}

}  // namespace

Index factor_tiles(MatrixOut A) {
  const Index n = A.rows();
  if (n == 0) return -1;
  if (n <= base) return potrf(narrow(n), A.data(), narrow(A.outerStride())) - 1;
  const Index n1 = half(n), n2 = n - n1;
  if (const Index failed = factor_tiles(A.topLeftCorner(n1, n1)); failed >= 0) return failed;
  // L21 = A21·L11⁻ᵀ, then what is left is A22 − L21·L21ᵀ
  solve_lower_right(A.topLeftCorner(n1, n1), A.bottomLeftCorner(n2, n1), Op::transpose);
  syrk(-1.0, A.bottomLeftCorner(n2, n1), Op::none, 1.0, A.bottomRightCorner(n2, n2));
  const Index failed = factor_tiles(A.bottomRightCorner(n2, n2));
  return failed < 0 ? failed : n1 + failed;
}

void invert_triangle_tiles(MatrixOut L) {
  const Index n = L.rows();
  if (n == 0) return;
  if (n <= inverse_base) {
    trtri(narrow(n), L.data(), narrow(L.outerStride()));
    return;
  }
  const Index n1 = half(n), n2 = n - n1;
  // W21 = −L22⁻¹·L21·L11⁻¹
  auto L21 = L.bottomLeftCorner(n2, n1);
  solve_lower_right(L.topLeftCorner(n1, n1), L21, Op::none, -1.0);
  solve_lower(L.bottomRightCorner(n2, n2), L21);
  // The halves are independent now. Few threads take one each; many share each in turn.
  const auto invert_half = [&](Index which) {
    if (which == 0)
      invert_triangle_tiles(L.topLeftCorner(n1, n1));
    else
      invert_triangle_tiles(L.bottomRightCorner(n2, n2));
  };
  if (threads() <= 3 && n > base) {
    parallel_for(2, invert_half);
  } else {
    invert_half(0);
    invert_half(1);
  }
}

void square_triangle_tiles(MatrixOut W) {
  const Index n = W.rows();
  if (n == 0) return;
  if (n <= base) {
    lauum(narrow(n), W.data(), narrow(W.outerStride()));
    return;
  }
  const Index n1 = half(n), n2 = n - n1;
  // A11 = W11ᵀW11 + W21ᵀW21, A21 = W22ᵀW21, A22 = W22ᵀW22
  square_triangle_tiles(W.topLeftCorner(n1, n1));
  syrk(1.0, W.bottomLeftCorner(n2, n1), Op::transpose, 1.0, W.topLeftCorner(n1, n1));
  multiply_lower(W.bottomRightCorner(n2, n2), W.bottomLeftCorner(n2, n1), Op::transpose);
  square_triangle_tiles(W.bottomRightCorner(n2, n2));
}

}  // namespace covary
