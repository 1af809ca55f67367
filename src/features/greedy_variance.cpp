#include "features/greedy_variance.hpp"

#include <algorithm>
#include <cmath>

#include "covary/error.hpp"
#include "covary/features/selection.hpp"
#include "covary/linalg/blas.hpp"
#include "covary/linalg/parallel.hpp"

namespace covary {
namespace {

constexpr Index width = 512;  // rows of a task

RowBlock rows_of(ConstRows X, Index first, Index n) {
  return {X.data() + first * X.outerStride(), n, X.cols(), X.outerStride(), first};
}

template <class Body>
void for_strips(Index rows, const Body& body) {
  parallel_for((rows + width - 1) / width,
               [&](Index s) { body(s * width, std::min(width, rows - s * width), s); });
}

// The first row of the largest entry, from the largest of each strip.
struct Largest {
  Vector value;
  std::vector<Index> row;

  explicit Largest(Index rows) : value((rows + width - 1) / width), row(value.size()) {}
  void look(const Vector& d, Index first, Index n, Index strip) {
    Index best = first;
    for (Index i = first + 1; i < first + n; ++i)
      if (d(i) > d(best)) best = i;
    value(strip) = d(best);
    row[static_cast<std::size_t>(strip)] = best;
  }
  Index get() const {
    Index best = 0;
    for (Index s = 1; s < value.size(); ++s)
      if (value(s) > value(best)) best = s;
    return row[static_cast<std::size_t>(best)];
  }
};

}  // namespace

Vector smooth_diagonal(const Kernel& kernel, ConstVector theta, ConstRows X) {
  // Pairs of one row each, of what is given out as two tables: white noise acts within one only.
  Vector k(X.rows());
  for_strips(X.rows(), [&](Index first, Index n, Index) {
    for (Index i = first; i < first + n; ++i)
      kernel.node().evaluate(theta.data(), {rows_of(X, i, 1), rows_of(X, i, 1), false}, &k(i));
  });
  return k;
}

double largest_smooth_variance(const Kernel& kernel, const Vector& diagonal) {
  if (!diagonal.allFinite())
    throw NumericalError("the kernel " + kernel.print() + " has non-finite values on the diagonal");
  const double largest = diagonal.maxCoeff();
  if (!(largest > 0.0))
    throw InputError("the kernel " + kernel.print() +
                     " has no variance at these inputs but white noise, which inducing inputs "
                     "cannot explain");
  return largest;
}

GreedyVariance greedy_variance(const Kernel& kernel, ConstVector theta, ConstRows X, Index M) {
  const Index N = X.rows();
  M = std::min(M, N);
  Vector d = smooth_diagonal(kernel, theta, X);
  const double limit = smallest_variance * largest_smooth_variance(kernel, d);

  Matrix A(M, N);  // a_n in column n: the inner products are Qff
  GreedyVariance out;
  Largest largest(N);
  for_strips(N, [&](Index first, Index n, Index s) { largest.look(d, first, n, s); });
  for (Index m = 0; m < M; ++m) {
    const Index pivot = largest.get();
    if (!(d(pivot) > limit)) break;
    out.rows.push_back(pivot);
    const Vector a = A.col(pivot).head(m);
    const double root = std::sqrt(d(pivot));
    for_strips(N, [&](Index first, Index n, Index s) {
      Vector column(n);
      kernel.node().evaluate(theta.data(), {rows_of(X, first, n), rows_of(X, pivot, 1), false},
                             column.data());
      column = (column - multiply(A.block(0, first, m, n), a, Op::transpose)) / root;
      A.row(m).segment(first, n) = column.transpose();
      d.segment(first, n) = (d.segment(first, n) - column.cwiseAbs2()).cwiseMax(0.0);
      if (pivot >= first && pivot < first + n) d(pivot) = 0.0;
      largest.look(d, first, n, s);
    });
  }
  out.residual = d.sum();
  return out;
}

}  // namespace covary
