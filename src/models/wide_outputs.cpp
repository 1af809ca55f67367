#include "models/wide_outputs.hpp"

#include <numeric>

#include "covary/kernels/expectations.hpp"
#include "covary/linalg/blas.hpp"

namespace covary {

bool is_wide(const RowMatrix& Y) { return Y.cols() > Y.rows() && !Y.array().isNaN().any(); }

RowMatrix outputs_factor(const RowMatrix& Y) {
  const Index N = Y.rows(), P = Y.cols(), width = std::max<Index>(N, 2048);
  Matrix F = Matrix::Zero(N, N);
  for (Index p = 0; p < P; p += width) {
    const Index n = std::min(width, P - p);
    Matrix stacked(N + n, N);
    stacked << F.transpose(), Y.middleCols(p, n).transpose();
    F = gram_factor(std::move(stacked));
  }
  return F;
}

SparseFactors with_all_columns(const SparseFactors& reduced, const RowMatrix& Y,
                               const Features& features, const SparseValues& values,
                               const Matrix& Luu, const LatentMarginals& q) {
  const Index N = q.mean.rows(), Q = q.mean.cols(), M = Luu.rows(), P = Y.cols();
  const RowMatrix mean = q.mean, variance = q.variance;
  Matrix psi1(M, N);
  const auto psi = gaussian_expectations(features, values.theta.data(), values.z.data());
  psi->psi1({{mean.data(), N, Q, Q}, variance.data()}, psi1.data());
  solve_lower(Luu, psi1);
  solve_lower(reduced.LB, psi1);
  SparseFactors out = reduced;
  out.silent = 0.0;
  out.columns.resize(static_cast<std::size_t>(P));
  std::iota(out.columns.begin(), out.columns.end(), Index{0});
  out.c.resize(M, P);
  const Eigen::Map<const Matrix> Yt(Y.data(), P, N);  // row-major Y as it lies
  gemm(1.0 / values.noise, psi1, Op::none, Yt, Op::transpose, 0.0, out.c);
  return out;
}

}  // namespace covary
