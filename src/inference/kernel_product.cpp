#include "inference/kernel_product.hpp"

#include <algorithm>
#include <functional>

#include "covary/linalg/blas.hpp"

namespace covary {
namespace {

constexpr Index width = 128;  // a tile of 128² doubles stays in the second-level cache

RowBlock part(const RowBlock& x, Index at, Index n) {
  return {x.row(at), n, x.dims, x.stride, x.first + at};
}

// All tiles of the lower triangle whose rows are in the block: body(rows, columns).
void for_lower_tiles(const RowSource& rows, const RowBlock& block,
                     const std::function<void(const RowBlock&, const RowBlock&)>& body) {
  ReadBuffer buffer;
  for (Index j = 0; j < block.first; j += width) {
    const RowBlock z = rows.read(j, std::min(width, block.first - j), buffer).x;
    for (Index i = 0; i < block.n; i += width)
      body(part(block, i, std::min(width, block.n - i)), z);
  }
  for (Index i = 0; i < block.n; i += width)
    for (Index j = 0; j <= i; j += width)
      body(part(block, i, std::min(width, block.n - i)),
           part(block, j, std::min(width, block.n - j)));
}

// out_I += K V_J and, off the diagonal, out_J += Kᵀ V_I.
void add_products(const Matrix& K, Index i, Index j, ConstMatrix V, MatrixOut out) {
  const Index ni = K.rows(), nj = K.cols();
  if (V.cols() > 4) {
    gemm(1.0, K, Op::none, V.middleRows(j, nj), Op::none, 1.0, out.middleRows(i, ni));
    if (i != j)
      gemm(1.0, K, Op::transpose, V.middleRows(i, ni), Op::none, 1.0, out.middleRows(j, nj));
    return;
  }
  for (Index p = 0; p < V.cols(); ++p) {
    const auto v = V.col(p);
    auto o = out.col(p);
    for (Index l = 0; l < nj; ++l) {
      if (i != j) o(j + l) += K.col(l).dot(v.segment(i, ni));
      o.segment(i, ni) += v(j + l) * K.col(l);
    }
  }
}

}  // namespace

Matrix kernel_product(const KernelNode& kernel, const double* theta, const Sweep& sweep,
                      ConstMatrix V) {
  const Index N = V.rows(), P = V.cols();
  const Vector sums = sweep.sum(N * P, [&]() -> Sweep::Body {
    auto K = std::make_shared<Matrix>();
    return [&, K](const DataBlock& block, double* sum) {
      Eigen::Map<Matrix> out(sum, N, P);
      for_lower_tiles(sweep.rows(), block.x, [&](const RowBlock& x, const RowBlock& z) {
        K->resize(x.n, z.n);
        kernel.evaluate(theta, {x, z, true}, K->data());
        add_products(*K, x.first, z.first, V, out);
      });
    };
  });
  return Eigen::Map<const Matrix>(sums.data(), N, P);
}

void kernel_product_pullback(const KernelNode& kernel, const double* theta, const Sweep& sweep,
                             ConstMatrix R, ConstMatrix V, VectorOut theta_bar) {
  theta_bar += sweep.sum(theta_bar.size(), [&]() -> Sweep::Body {
    auto K_bar = std::make_shared<Matrix>();
    return [&, K_bar](const DataBlock& block, double* sum) {
      for_lower_tiles(sweep.rows(), block.x, [&](const RowBlock& x, const RowBlock& z) {
        const auto Ri = R.middleRows(x.first, x.n), Vi = V.middleRows(x.first, x.n);
        const auto Rj = R.middleRows(z.first, z.n), Vj = V.middleRows(z.first, z.n);
        const double half = x.first == z.first ? 0.5 : 1.0;  // the other triangle, by symmetry
        K_bar->resize(x.n, z.n);
        gemm(half, Matrix(Ri + Vi), Op::none, Vj, Op::transpose, 0.0, *K_bar);
        gemm(half, Vi, Op::none, Rj, Op::transpose, 1.0, *K_bar);
        kernel.pullback(theta, {x, z, true}, K_bar->data(), sum, nullptr, nullptr);
      });
    };
  });
}

double kernel_product_flops(Index rows, Index dims, Index outputs) {
  const auto N = static_cast<double>(rows);
  return N * N *
         (0.5 * (3.0 * static_cast<double>(dims) + 30.0) + 2.0 * static_cast<double>(outputs));
}

}  // namespace covary
