#pragma once

#include "covary/statistics/weighted.hpp"

namespace covary {

// What every kind of sweep computes of a block first.
struct BlockValues {
  Matrix K;      // M×b: Kuf
  Vector k;      // k_nn
  Vector s;      // noise variances
  RowMatrix r;   // b×P: y − m(x), NaN where missing
  Matrix basis;  // of the mean function

  // Room for the widest block of a sweep.
  BlockValues(const SweepContext& c, const Sweep& sweep);
  void load(const SweepContext& c, const DataBlock& block);
  auto Kuf() { return K.leftCols(n); }
  Index n = 0;
};

// A lane's sums for one group of columns: C (M×M), beta (M×P), then the scalars of
// WeightedStatistics in their order.
struct LaneSums {
  static constexpr Index scalars = 6;
  static Index size(Index M, const std::vector<Index>& columns) {
    return M * M + M * static_cast<Index>(columns.size()) + scalars;
  }
  LaneSums(double* at, Index M, Index P)
      : C(at, M, M), beta(at + M * M, M, P), x(at + M * M + M * P) {}
  Eigen::Map<Matrix> C, beta;
  double* x;  // rows, rr, log_w, term, trace, ratio
};
// The statistics of every group, from their sums end to end.
std::vector<WeightedStatistics> unpack(const Vector& sums, Index M,
                                       const std::vector<std::vector<Index>>& columns);

// Columns of A times the entries of f.
void scale_columns(MatrixOut A, ConstVector f);

// Adds Σ f_n a_n a_nᵀ to `sum` (M×M, lower) over the first n columns of A, for weights of either
// sign: two rank-k updates.
void add_weighted(const Matrix& A, Index n, ConstVector f, Matrix& scratch, double* sum);

}  // namespace covary
