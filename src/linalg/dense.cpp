#include "linalg/dense.hpp"

#include <cblas.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "covary/linalg/parallel.hpp"
#include "linalg/lapack.hpp"
#include "linalg/tiles.hpp"

namespace covary {
namespace {

constexpr Index panel = 192;  // columns finished at a time; measured best of 96 … 384
constexpr Index strip = 96;   // rows (or columns) a task takes of a panel

int narrow(Index n) { return static_cast<int>(n); }

}  // namespace

// Left-looking: each panel is brought up to date by one long product, then factored.
Index factor_tiles(MatrixOut A) {
  const Index n = A.rows(), ld = A.outerStride();
  double* a = A.data();
  for (Index k = 0; k < n; k += panel) {
    const Index nk = std::min(panel, n - k);
    double* diagonal = a + k + k * ld;
    const Tiles below(n - k, strip);
    // A[k:, k] −= L[k:, :k]·L[k, :k]ᵀ
    if (k > 0)
      parallel_for(below.count(), [&](Index t) {
        const Index i = k + below.begin(t);
        cblas_dgemm(CblasColMajor, CblasNoTrans, CblasTrans, narrow(below.size(t)), narrow(nk),
                    narrow(k), -1.0, a + i, narrow(ld), a + k, narrow(ld), 1.0, a + i + k * ld,
                    narrow(ld));
      });
    if (const int failed = potrf(narrow(nk), diagonal, narrow(ld)); failed > 0)
      return k + failed - 1;
    // L[k+nk:, k] = A[k+nk:, k]·L[k,k]⁻ᵀ
    const Tiles rest(n - k - nk, strip);
    parallel_for(rest.count(), [&](Index t) {
      cblas_dtrsm(CblasColMajor, CblasRight, CblasLower, CblasTrans, CblasNonUnit,
                  narrow(rest.size(t)), narrow(nk), 1.0, diagonal, narrow(ld),
                  a + k + nk + rest.begin(t) + k * ld, narrow(ld));
    });
  }
  return -1;
}

// From the last panel to the first: W[below, k] = −W[below, below]·L[below, k]·L[k,k]⁻¹.
void invert_triangle_tiles(MatrixOut L) {
  const Index n = L.rows(), ld = L.outerStride();
  if (n == 0) return;
  double* a = L.data();
  std::vector<double> copy;
  for (Index k = (n - 1) / panel * panel; k >= 0; k -= panel) {
    const Index nk = std::min(panel, n - k), first = k + nk, m = n - first;
    double* diagonal = a + k + k * ld;
    if (m > 0) {
      copy.resize(static_cast<std::size_t>(m * nk));
      for (Index j = 0; j < nk; ++j) std::copy_n(a + first + (k + j) * ld, m, copy.data() + j * m);
      const Tiles rows(m, strip);
      // Row strips are dealt from the longest to the shortest.
      parallel_for(rows.count(), [&](Index reversed) {
        const Index t = rows.count() - 1 - reversed, i = rows.begin(t), ni = rows.size(t);
        double* out = a + first + i + k * ld;
        for (Index j = 0; j < nk; ++j) std::copy_n(copy.data() + i + j * m, ni, out + j * ld);
        // the triangle of W at the diagonal, then the rectangle to its left
        cblas_dtrmm(CblasColMajor, CblasLeft, CblasLower, CblasNoTrans, CblasNonUnit, narrow(ni),
                    narrow(nk), 1.0, a + (first + i) * (ld + 1), narrow(ld), out, narrow(ld));
        if (i > 0)
          cblas_dgemm(CblasColMajor, CblasNoTrans, CblasNoTrans, narrow(ni), narrow(nk), narrow(i),
                      1.0, a + first + i + first * ld, narrow(ld), copy.data(), narrow(m), 1.0, out,
                      narrow(ld));
        cblas_dtrsm(CblasColMajor, CblasRight, CblasLower, CblasNoTrans, CblasNonUnit, narrow(ni),
                    narrow(nk), -1.0, diagonal, narrow(ld), out, narrow(ld));
      });
    }
    trtri(narrow(nk), diagonal, narrow(ld));
  }
}

// Row panel k of WᵀW needs rows ≥ k of W only, so ascending k may overwrite.
void square_triangle_tiles(MatrixOut W) {
  const Index n = W.rows(), ld = W.outerStride();
  double* a = W.data();
  std::vector<double> corner(static_cast<std::size_t>(panel * panel));
  for (Index k = 0; k < n; k += panel) {
    const Index nk = std::min(panel, n - k), first = k + nk, m = n - first;
    double* diagonal = a + k + k * ld;
    for (Index j = 0; j < nk; ++j) std::copy_n(diagonal + j * ld, nk, corner.data() + j * nk);
    const Tiles cols(k, strip);
    // Task 0 is the diagonal block, the others column strips to its left.
    parallel_for(cols.count() + 1, [&](Index task) {
      if (task == 0) {
        lauum(narrow(nk), diagonal, narrow(ld));
        if (m > 0)
          cblas_dsyrk(CblasColMajor, CblasLower, CblasTrans, narrow(nk), narrow(m), 1.0,
                      a + first + k * ld, narrow(ld), 1.0, diagonal, narrow(ld));
        return;
      }
      const Index j = cols.begin(task - 1), nj = cols.size(task - 1);
      cblas_dtrmm(CblasColMajor, CblasLeft, CblasLower, CblasTrans, CblasNonUnit, narrow(nk),
                  narrow(nj), 1.0, corner.data(), narrow(nk), a + k + j * ld, narrow(ld));
      if (m > 0)
        cblas_dgemm(CblasColMajor, CblasTrans, CblasNoTrans, narrow(nk), narrow(nj), narrow(m), 1.0,
                    a + first + k * ld, narrow(ld), a + first + j * ld, narrow(ld), 1.0,
                    a + k + j * ld, narrow(ld));
    });
  }
}

}  // namespace covary
