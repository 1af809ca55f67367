#include "covary/data/pca.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "covary/error.hpp"
#include "covary/linalg/blas.hpp"
#include "covary/linalg/spectrum.hpp"

namespace covary {
namespace {

void check_table(ConstRows X, Index D) {
  if (X.cols() != D)
    throw InputError(fmt::format("the table has {} columns, the components {}", X.cols(), D));
  for (Index i = 0; i < X.rows(); ++i)
    for (Index j = 0; j < D; ++j)
      if (!std::isfinite(X(i, j)))
        throw InputError(fmt::format(
            "the table is {} at row {}, column {}; drop such rows or fill them in", X(i, j), i, j));
}

void fix_signs(Matrix& components) {
  for (auto column : components.colwise()) {
    const double largest = column.cwiseAbs().maxCoeff();
    for (Index d = 0; d < column.size(); ++d)
      if (std::abs(column[d]) >= (1 - 1e-8) * largest) {
        if (column[d] < 0) column *= -1;
        break;
      }
  }
}

}  // namespace

Pca Pca::fit(ConstRows X, Index Q, ConstVector weights) {
  const Index N = X.rows(), D = X.cols();
  if (weights.size() && weights.size() != N)
    throw InputError(fmt::format("{} weights were given for {} rows", weights.size(), N));
  if (N == 0 || D == 0) throw InputError(fmt::format("the table is empty ({}×{})", N, D));
  if (Q < 0) throw InputError(fmt::format("{} components were asked for", Q));
  check_table(X, D);
  const double count = weights.size() ? weights.sum() : static_cast<double>(N);
  Pca out{weights.size() ? Vector(multiply(Matrix(X), weights, Op::transpose) / count)
                         : Vector(X.colwise().mean().transpose()),
          {},
          {},
          0};
  Matrix centred = X.rowwise() - out.mean.transpose();
  if (weights.size()) centred.array().colwise() *= weights.array().sqrt();
  out.total_variance = centred.squaredNorm() / count;
  // Centring leaves rounding of columns that are constant: the rule is that of scaling.
  const Vector sd = (centred.colwise().squaredNorm() / count).cwiseSqrt();
  if ((sd.array() <= 1e-10 * out.mean.array().abs()).all())
    throw InputError(fmt::format("all {} rows are equal: there are no principal components", N));

  // The covariance, or for few rows the inner products of the rows, which have the same
  // eigenvalues.
  const bool wide = N < D;
  const Index n = wide ? N : D;
  Matrix moments(n, n);
  syrk(1 / count, centred, wide ? Op::none : Op::transpose, 0, moments);
  const SymmetricEigen e = symmetric_eigen(std::move(moments));
  // What is below the rounding of the largest is no direction of the data.
  const double least = e.values[n - 1] * static_cast<double>(std::max(N, D)) *
                       std::numeric_limits<double>::epsilon();
  Index rank = 0;
  while (rank < n && e.values[n - 1 - rank] > least) ++rank;
  if (Q > rank)
    throw InputError(fmt::format("{} components were asked for, but the {} rows vary along only {}",
                                 Q, N, rank));
  if (Q == 0) Q = rank;
  out.variances = e.values.tail(Q).reverse();
  const Matrix vectors = e.vectors.rightCols(Q).rowwise().reverse();
  if (wide) {
    out.components = product(centred, vectors, Op::transpose);
    out.components.colwise().normalize();
  } else {
    out.components = vectors;
  }
  fix_signs(out.components);
  return out;
}

Vector Pca::explained() const { return variances / total_variance; }

Index Pca::size_explaining(double share) const {
  if (!(share > 0 && share <= 1))
    throw InputError(fmt::format("the share is {}; it lies above 0 and is at most 1", share));
  double sum = 0;
  for (Index q = 0; q < size(); ++q) {
    sum += variances[q];
    // All of them together may miss the whole by rounding.
    if (sum >= (share - 1e-12) * total_variance) return q + 1;
  }
  throw InputError(
      fmt::format("the {} components at hand explain {:.4g} of the variance, less than {}", size(),
                  sum / total_variance, share));
}

Pca Pca::first(Index Q) const {
  if (Q < 1 || Q > size())
    throw InputError(fmt::format("{} components were asked for; there are 1 to {}", Q, size()));
  return {mean, components.leftCols(Q), variances.head(Q), total_variance};
}

RowMatrix Pca::transform(ConstRows X) const {
  check_table(X, inputs());
  return product(X.rowwise() - mean.transpose(), components);
}

RowMatrix Pca::inverse(ConstRows scores) const {
  check_table(scores, size());
  return product(Matrix(scores), components, Op::none, Op::transpose).rowwise() + mean.transpose();
}

}  // namespace covary
