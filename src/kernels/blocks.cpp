#include <fmt/format.h>

#include <algorithm>

#include "covary/error.hpp"
#include "covary/kernels/kernel.hpp"
#include "covary/linalg/blas.hpp"
#include "covary/linalg/parallel.hpp"
#include "kernels/support.hpp"
#include "linalg/tiles.hpp"

namespace covary {
namespace {

constexpr Index width =
    64;  // a tile of 64² doubles and its companions stay in the second-level cache
constexpr Index lanes = 16;  // fixed number of accumulators, whatever the number of threads

RowBlock rows(ConstRows X, Index first, Index n) {
  return {X.data() + first * X.outerStride(), n, X.cols(), X.outerStride(), first};
}

void check_theta(const Kernel& k, ConstVector theta, Index dims) {
  k.node().check(dims);
  if (theta.size() != k.parameter_count(dims))
    throw InputError(fmt::format("{} on {} input columns has {} parameters, got {}", k.print(),
                                 dims, k.parameter_count(dims), theta.size()));
}

void check_columns(ConstRows X, ConstRows Z) {
  if (X.cols() != Z.cols())
    throw InputError(
        fmt::format("the two sets of inputs have {} and {} columns", X.cols(), Z.cols()));
}

// In the order of the slots.
Vector sum_slots(const Matrix& slots) {
  Vector out = Vector::Zero(slots.rows());
  for (Index s = 0; s < slots.cols(); ++s) out += slots.col(s);
  return out;
}

}  // namespace

void gram_lower(const KernelNode& k, const double* theta, ConstRows X, MatrixOut K) {
  const Tiles tiles(X.rows(), width);
  parallel_for(tiles.lower_count(), [&](Index t) {
    const auto [i, j] = tiles.lower(t);
    const Index ni = tiles.size(i), nj = tiles.size(j);
    Scratch tile(ni * nj);
    k.evaluate(theta, {rows(X, tiles.begin(i), ni), rows(X, tiles.begin(j), nj), true}, tile.get());
    K.block(tiles.begin(i), tiles.begin(j), ni, nj) = Eigen::Map<const Matrix>(tile.get(), ni, nj);
  });
}

Matrix gram(const Kernel& k, ConstVector theta, ConstRows X) {
  check_theta(k, theta, X.cols());
  Matrix K(X.rows(), X.rows());
  gram_lower(k.node(), theta.data(), X, K);
  mirror_lower(K);
  return K;
}

Matrix cross(const Kernel& k, ConstVector theta, ConstRows X, ConstRows Z) {
  check_theta(k, theta, X.cols());
  check_columns(X, Z);
  Matrix K(X.rows(), Z.rows());
  // Few columns get tall tiles: a prediction at one row is one task, and no thread is woken for it.
  const Index height = std::max(width, width * width / std::max<Index>(1, Z.rows()));
  const Tiles r(X.rows(), height), c(Z.rows(), width);
  parallel_for(r.count() * c.count(), [&](Index t) {
    const Index i = t % r.count(), j = t / r.count(), ni = r.size(i), nj = c.size(j);
    Scratch tile(ni * nj);
    k.node().evaluate(theta.data(), {rows(X, r.begin(i), ni), rows(Z, c.begin(j), nj), false},
                      tile.get());
    K.block(r.begin(i), c.begin(j), ni, nj) = Eigen::Map<const Matrix>(tile.get(), ni, nj);
  });
  return K;
}

Vector diagonal(const Kernel& k, ConstVector theta, ConstRows X) {
  check_theta(k, theta, X.cols());
  Vector out(X.rows());
  if (X.rows() > 0) k.node().diagonal(theta.data(), rows(X, 0, X.rows()), out.data());
  return out;
}

void gram_pullback(const KernelNode& k, const double* theta, ConstRows X,
                   const TileWeights& weights, VectorOut theta_bar, RowMatrix* X_bar) {
  const Tiles tiles(X.rows(), width);
  const Index D = X.cols();
  if (!X_bar) {  // symmetry: the lower tiles count twice
    Matrix slots = Matrix::Zero(theta_bar.size(), tiles.lower_count());
    parallel_for(tiles.lower_count(), [&](Index t) {
      const auto [i, j] = tiles.lower(t);
      const Index ni = tiles.size(i), nj = tiles.size(j);
      Scratch Kbar(ni * nj);
      weights(tiles.begin(i), ni, tiles.begin(j), nj, Kbar.get());
      for (Index e = 0; i != j && e < ni * nj; ++e) Kbar[e] *= 2.0;
      k.pullback(theta, {rows(X, tiles.begin(i), ni), rows(X, tiles.begin(j), nj), true},
                 Kbar.get(), slots.col(t).data(), nullptr, nullptr);
    });
    theta_bar += sum_slots(slots);
    return;
  }
  // Each task owns a strip of rows and sees all columns; x enters K twice, hence the factor two.
  Matrix slots = Matrix::Zero(theta_bar.size(), tiles.count());
  parallel_for(tiles.count(), [&](Index i) {
    const Index ni = tiles.size(i);
    RowMatrix strip = RowMatrix::Zero(ni, D);
    for (Index j = 0; j < tiles.count(); ++j) {
      const Index nj = tiles.size(j);
      Scratch Kbar(ni * nj);
      weights(tiles.begin(i), ni, tiles.begin(j), nj, Kbar.get());
      k.pullback(theta, {rows(X, tiles.begin(i), ni), rows(X, tiles.begin(j), nj), true},
                 Kbar.get(), slots.col(i).data(), strip.data(), nullptr);
    }
    X_bar->middleRows(tiles.begin(i), ni) += 2.0 * strip;
  });
  theta_bar += sum_slots(slots);
}

void cross_pullback(const KernelNode& k, const double* theta, ConstRows X, ConstRows Z,
                    ConstMatrix Kbar, VectorOut theta_bar, RowMatrix* X_bar, RowMatrix* Z_bar) {
  check_columns(X, Z);
  const Tiles r(X.rows(), width), c(Z.rows(), width);
  const Index used = std::min(lanes, r.count());
  Matrix slots = Matrix::Zero(theta_bar.size(), used);
  std::vector<RowMatrix> z_lanes(static_cast<std::size_t>(used),
                                 Z_bar ? RowMatrix::Zero(Z.rows(), Z.cols()) : RowMatrix());
  parallel_for(used, [&](Index lane) {  // strip i goes to lane i mod 16
    for (Index i = lane; i < r.count(); i += lanes)
      for (Index j = 0; j < c.count(); ++j) {
        const Index ni = r.size(i), nj = c.size(j);
        const Matrix tile = Kbar.block(r.begin(i), c.begin(j), ni, nj);
        RowMatrix x_bar = RowMatrix::Zero(X_bar ? ni : 0, X.cols());
        double* z_bar =
            Z_bar ? z_lanes[static_cast<std::size_t>(lane)].row(c.begin(j)).data() : nullptr;
        k.pullback(theta, {rows(X, r.begin(i), ni), rows(Z, c.begin(j), nj), false}, tile.data(),
                   slots.col(lane).data(), X_bar ? x_bar.data() : nullptr, z_bar);
        if (X_bar) X_bar->middleRows(r.begin(i), ni) += x_bar;
      }
  });
  theta_bar += sum_slots(slots);
  for (const auto& lane : z_lanes)
    if (Z_bar) *Z_bar += lane;
}

void diagonal_pullback(const KernelNode& k, const double* theta, ConstRows X, ConstVector kbar,
                       VectorOut theta_bar, RowMatrix* X_bar) {
  RowMatrix x_bar = RowMatrix::Zero(X_bar ? X.rows() : 0, X.cols());
  k.diagonal_pullback(theta, rows(X, 0, X.rows()), kbar.data(), theta_bar.data(),
                      X_bar ? x_bar.data() : nullptr);
  if (X_bar) *X_bar += x_bar;
}

}  // namespace covary
