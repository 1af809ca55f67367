#include "statistics/block.hpp"

#include <cmath>

#include "covary/linalg/blas.hpp"

namespace covary {

BlockValues::BlockValues(const SweepContext& c, const Sweep& sweep)
    : K(c.features->size(), sweep.widest()) {}

void BlockValues::load(const SweepContext& c, const DataBlock& block) {
  n = block.x.n;
  c.features->Kuf(c.theta, c.z, block.x, K.data());
  k.resize(n);
  c.kernel->diagonal(c.theta, block.x, k.data());
  s = Vector::Constant(n, c.noise);
  if (block.noise) s += Eigen::Map<const Vector>(block.noise, n);
  r = Eigen::Map<const RowMatrix>(block.y, n, block.outputs);
  if (c.mean && !c.mean->is_zero()) {
    const Eigen::Map<const RowMatrix, 0, Eigen::OuterStride<>> X(
        block.x.data, n, block.x.dims, Eigen::OuterStride<>(block.x.stride));
    basis = c.mean->basis(X);
    r -= product(basis, c.mean_weights);
  }
}

std::vector<WeightedStatistics> unpack(const Vector& sums, Index M,
                                       const std::vector<std::vector<Index>>& columns) {
  std::vector<WeightedStatistics> out;
  const double* at = sums.data();
  for (const auto& cols : columns) {
    const auto P = static_cast<Index>(cols.size());
    const double* x = at + M * M + M * P;
    WeightedStatistics s;
    s.columns = cols;
    s.C = Eigen::Map<const Matrix>(at, M, M);
    s.beta = Eigen::Map<const Matrix>(at + M * M, M, P);
    s.rows = x[0];
    s.rr = x[1];
    s.log_w = x[2];
    s.term = x[3];
    s.trace = x[4];
    s.ratio = x[5];
    out.push_back(std::move(s));
    at += LaneSums::size(M, cols);
  }
  return out;
}

void scale_columns(MatrixOut A, ConstVector f) {
  for (Index j = 0; j < A.cols(); ++j) A.col(j) *= f(j);
}

void add_weighted(const Matrix& A, Index n, ConstVector f, Matrix& scratch, double* sum) {
  Eigen::Map<Matrix> C(sum, A.rows(), A.rows());
  scratch.resize(A.rows(), n);
  Index positive = 0, negative = 0;
  for (Index j = 0; j < n; ++j) {
    const Index to = f(j) >= 0.0 ? positive++ : n - 1 - negative++;
    scratch.col(to) = std::sqrt(std::abs(f(j))) * A.col(j);
  }
  if (positive) syrk(1.0, scratch.leftCols(positive), Op::none, 1.0, C);
  if (negative) syrk(-1.0, scratch.rightCols(negative), Op::none, 1.0, C);
}

}  // namespace covary
