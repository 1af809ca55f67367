#include "covary/linalg/blas.hpp"

#include <cblas.h>

#include <algorithm>
#include <cassert>

#include "covary/linalg/parallel.hpp"
#include "linalg/tiles.hpp"

namespace covary {
namespace {

CBLAS_TRANSPOSE cblas(Op op) { return op == Op::none ? CblasNoTrans : CblasTrans; }
int narrow(Index n) { return static_cast<int>(n); }
// BLAS refuses a leading dimension of zero even for empty matrices.
int leading(Index stride) { return narrow(std::max<Index>(1, stride)); }

// Work below this is done in one call: waking a thread costs more. So is work inside a task, where
// there is nobody to share it with.
bool whole(double flops) { return flops < 2e6 || inside_parallel(); }

}  // namespace

void gemm(double alpha, ConstMatrix A, Op opA, ConstMatrix B, Op opB, double beta, MatrixOut C) {
  const Index m = C.rows(), n = C.cols(), k = opA == Op::none ? A.cols() : A.rows();
  assert((opA == Op::none ? A.rows() : A.cols()) == m);
  assert((opB == Op::none ? B.rows() : B.cols()) == k);
  assert((opB == Op::none ? B.cols() : B.rows()) == n);
  if (m == 0 || n == 0) return;
  if (k == 0) {
    if (beta == 0.0)
      C.setZero();
    else
      C *= beta;
    return;
  }
  const auto tile = [&](Index i, Index mi, Index j, Index nj) {
    cblas_dgemm(
        CblasColMajor, cblas(opA), cblas(opB), narrow(mi), narrow(nj), narrow(k), alpha,
        opA == Op::none ? A.data() + i : A.data() + i * A.outerStride(), leading(A.outerStride()),
        opB == Op::none ? B.data() + j * B.outerStride() : B.data() + j, leading(B.outerStride()),
        beta, C.data() + i + j * C.outerStride(), leading(C.outerStride()));
  };
  if (whole(2.0 * m * n * k)) return tile(0, m, 0, n);
  const Tiles rows(m), cols(n);
  parallel_for(rows.count() * cols.count(), [&](Index t) {
    const Index i = t % rows.count(), j = t / rows.count();
    tile(rows.begin(i), rows.size(i), cols.begin(j), cols.size(j));
  });
}

Matrix product(ConstMatrix A, ConstMatrix B, Op opA, Op opB) {
  Matrix C(opA == Op::none ? A.rows() : A.cols(), opB == Op::none ? B.cols() : B.rows());
  gemm(1.0, A, opA, B, opB, 0.0, C);
  return C;
}

Vector multiply(ConstMatrix A, ConstVector x, Op opA) {
  Vector y(opA == Op::none ? A.rows() : A.cols());
  if (y.size() == 0) return y;
  if (x.size() == 0) return Vector::Zero(y.size());
  cblas_dgemv(CblasColMajor, cblas(opA), narrow(A.rows()), narrow(A.cols()), 1.0, A.data(),
              leading(A.outerStride()), x.data(), 1, 0.0, y.data(), 1);
  return y;
}

void syrk(double alpha, ConstMatrix A, Op opA, double beta, MatrixOut C) {
  const Index n = C.rows(), k = opA == Op::none ? A.cols() : A.rows();
  assert(C.cols() == n && (opA == Op::none ? A.rows() : A.cols()) == n);
  if (n == 0) return;
  const auto rows_of = [&](Index i) {
    return opA == Op::none ? A.data() + i : A.data() + i * A.outerStride();
  };
  const auto diagonal = [&](Index i, Index ni) {
    cblas_dsyrk(CblasColMajor, CblasLower, cblas(opA), narrow(ni), narrow(k), alpha, rows_of(i),
                leading(A.outerStride()), beta, C.data() + i + i * C.outerStride(),
                leading(C.outerStride()));
  };
  if (whole(1.0 * n * n * k)) return diagonal(0, n);
  const Tiles tiles(n);
  const Op opB = opA == Op::none ? Op::transpose : Op::none;
  parallel_for(tiles.lower_count(), [&](Index t) {
    const auto [i, j] = tiles.lower(t);
    if (i == j) return diagonal(tiles.begin(i), tiles.size(i));
    cblas_dgemm(CblasColMajor, cblas(opA), cblas(opB), narrow(tiles.size(i)), narrow(tiles.size(j)),
                narrow(k), alpha, rows_of(tiles.begin(i)), leading(A.outerStride()),
                rows_of(tiles.begin(j)), leading(A.outerStride()), beta,
                C.data() + tiles.begin(i) + tiles.begin(j) * C.outerStride(),
                leading(C.outerStride()));
  });
}

void solve_lower(ConstMatrix L, MatrixOut B, Op op) {
  assert(L.rows() == L.cols() && L.rows() == B.rows());
  if (B.size() == 0) return;
  if (B.cols() == 1)
    return cblas_dtrsv(CblasColMajor, CblasLower, cblas(op), CblasNonUnit, narrow(L.rows()),
                       L.data(), leading(L.outerStride()), B.data(), 1);
  const auto strip = [&](Index j, Index nj) {
    cblas_dtrsm(CblasColMajor, CblasLeft, CblasLower, cblas(op), CblasNonUnit, narrow(B.rows()),
                narrow(nj), 1.0, L.data(), leading(L.outerStride()), B.data() + j * B.outerStride(),
                leading(B.outerStride()));
  };
  if (whole(1.0 * B.rows() * B.size())) return strip(0, B.cols());
  const Tiles cols = Tiles::strips(B.cols());
  parallel_for(cols.count(), [&](Index j) { strip(cols.begin(j), cols.size(j)); });
}

void solve_lower_right(ConstMatrix L, MatrixOut B, Op op, double alpha) {
  assert(L.rows() == L.cols() && L.rows() == B.cols());
  if (B.size() == 0) return;
  const auto strip = [&](Index i, Index ni) {
    cblas_dtrsm(CblasColMajor, CblasRight, CblasLower, cblas(op), CblasNonUnit, narrow(ni),
                narrow(B.cols()), alpha, L.data(), leading(L.outerStride()), B.data() + i,
                leading(B.outerStride()));
  };
  if (whole(1.0 * B.cols() * B.size())) return strip(0, B.rows());
  const Tiles rows = Tiles::strips(B.rows());
  parallel_for(rows.count(), [&](Index i) { strip(rows.begin(i), rows.size(i)); });
}

void multiply_lower(ConstMatrix L, MatrixOut B, Op op) {
  assert(L.rows() == L.cols() && L.rows() == B.rows());
  if (B.size() == 0) return;
  const auto strip = [&](Index j, Index nj) {
    cblas_dtrmm(CblasColMajor, CblasLeft, CblasLower, cblas(op), CblasNonUnit, narrow(B.rows()),
                narrow(nj), 1.0, L.data(), leading(L.outerStride()), B.data() + j * B.outerStride(),
                leading(B.outerStride()));
  };
  if (whole(1.0 * B.rows() * B.size())) return strip(0, B.cols());
  const Tiles cols = Tiles::strips(B.cols());
  parallel_for(cols.count(), [&](Index j) { strip(cols.begin(j), cols.size(j)); });
}

void mirror_lower(MatrixOut A) {
  const Tiles tiles(A.rows());
  parallel_for(tiles.lower_count(), [&](Index t) {
    const auto [ti, tj] = tiles.lower(t);
    for (Index j = tiles.begin(tj); j < tiles.end(tj); ++j)
      for (Index i = std::max(tiles.begin(ti), j + 1); i < tiles.end(ti); ++i) A(j, i) = A(i, j);
  });
}

double dot(ConstVector a, ConstVector b) {
  assert(a.size() == b.size());
  return cblas_ddot(narrow(a.size()), a.data(), 1, b.data(), 1);
}

double frobenius(ConstMatrix A, ConstMatrix B) {
  assert(A.rows() == B.rows() && A.cols() == B.cols());
  double sum = 0.0;
  for (Index j = 0; j < A.cols(); ++j) sum += A.col(j).dot(B.col(j));
  return sum;
}

}  // namespace covary
