#include "statistics/one_pass.hpp"

#include <cmath>

#include "covary/linalg/blas.hpp"

namespace covary {
namespace {

// The rows of a block that have outputs, side by side.
struct Seen {
  RowMatrix X;
  RowMatrix Y;
  bool whole = true;  // none of them has some outputs and not others
};

Seen seen_rows(const DataBlock& block) {
  const Eigen::Map<const RowMatrix> Y(block.y, block.x.n, block.outputs);
  std::vector<Index> rows;
  Seen out;
  for (Index i = 0; i < block.x.n; ++i) {
    const Index missing = Y.row(i).array().isNaN().count();
    if (missing == 0) rows.push_back(i);
    out.whole = out.whole && (missing == 0 || missing == block.outputs);
  }
  const Eigen::Map<const RowMatrix, 0, Eigen::OuterStride<>> X(
      block.x.data, block.x.n, block.x.dims, Eigen::OuterStride<>(block.x.stride));
  out.X = X(rows, Eigen::all);
  out.Y = Y(rows, Eigen::all);
  return out;
}

}  // namespace

std::optional<OnePassStatistics> one_pass_statistics(const Features& features, ConstVector z,
                                                     const Mean& mean, const RowSource& rows) {
  const OnePassFeatures* own = features.one_pass();
  if (!own) return {};
  constexpr Index width = 512;  // so that a row's phases stay in the cache over all harmonics
  const Index B = mean.basis_count(rows.dims()), columns = B + rows.outputs();
  const Index size = own->sum_size(columns);
  const Sweep sweep(rows, width);
  const Vector sums = sweep.sum(size + columns * columns + 2, [&]() -> Sweep::Body {
    return [&](const DataBlock& block, double* sum) {
      double* scalars = sum + size + columns * columns;  // rows, refusals
      if (scalars[1] > 0.0) return;
      const Seen seen = seen_rows(block);
      const RowBlock x{seen.X.data(), seen.X.rows(), block.x.dims, block.x.dims, block.x.first};
      if (block.noise || !seen.whole || !own->covers(z.data(), x)) {
        scalars[1] += 1.0;
        return;
      }
      Matrix T(x.n, columns);
      if (B > 0) T.leftCols(B) = mean.basis(seen.X);
      T.rightCols(columns - B) = seen.Y;
      own->add_sums(z.data(), x, T, sum);
      Eigen::Map<Matrix> TT(sum + size, columns, columns);
      gemm(1.0, T, Op::transpose, T, Op::none, 1.0, TT);
      scalars[0] += static_cast<double>(x.n);
    };
  });
  if (sums(sums.size() - 1) > 0.0) return {};
  return OnePassStatistics{z, own->unpack(sums.data(), columns),
                           Eigen::Map<const Matrix>(sums.data() + size, columns, columns),
                           sums(sums.size() - 2)};
}

}  // namespace covary
