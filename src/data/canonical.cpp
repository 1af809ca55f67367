#include "data/canonical.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "covary/data/pca.hpp"
#include "covary/error.hpp"
#include "covary/linalg/blas.hpp"
#include "covary/linalg/spectrum.hpp"

namespace covary {
namespace {

constexpr double rounding = 1e-8;  // of agreements

// Orthonormal columns that span the leading components' scores.
Matrix orthonormal_scores(const RowMatrix& table, Index components) {
  if ((table.rowwise() - table.row(0)).isZero(0.0)) return Matrix(table.rows(), 0);
  Pca pca = Pca::fit(table);
  if (pca.size() > components) pca = pca.first(components);
  Matrix out = pca.transform(table);
  out.colwise().normalize();
  return out;
}

// The upper edge of the spectrum of a sum of V projectors in general position onto a share α of all
// directions (Kesten 1959), in the limit of many rows: 1 + 2√(α(1 − α)) of two.
double edge(Index tables, double share) {
  const auto V = static_cast<double>(tables);
  // Spaces that fill more than their part of all directions meet.
  if (share >= 1.0 - 1.0 / V) return V;
  return 1.0 + (V - 2.0) * share + 2.0 * std::sqrt((V - 1.0) * share * (1.0 - share));
}

}  // namespace

SharedDirections SharedDirections::fit(const std::vector<RowMatrix>& tables, Index components) {
  if (tables.size() < 2)
    throw InputError(fmt::format("{} tables were given; sharing takes two", tables.size()));
  if (components < 1)
    throw InputError(fmt::format("{} components were asked for; take one or more", components));
  const Index N = tables.front().rows();
  const auto V = static_cast<Index>(tables.size());
  std::vector<Matrix> bases;
  Index K = 0;
  for (const RowMatrix& table : tables) {
    if (table.rows() != N)
      throw InputError(fmt::format("a table has {} rows, the first {}", table.rows(), N));
    if (N == 0 || table.cols() == 0)
      throw InputError(fmt::format("a table is empty ({}×{})", N, table.cols()));
    bases.push_back(orthonormal_scores(table, components));
    K += bases.back().cols();
  }
  Matrix all(N, K);
  Index at = 0;
  for (const Matrix& basis : bases) {
    all.middleCols(at, basis.cols()) = basis;
    at += basis.cols();
  }
  SharedDirections out;
  // Scores have mean zero, which takes one direction away.
  out.by_chance =
      edge(V, static_cast<double>(K) / static_cast<double>(V * std::max<Index>(N - 1, 1)));
  // The eigenvalues of Σ U·Uᵀ are those of [U₁ …]ᵀ[U₁ …]; directions that the tables repeat leave
  // zeros.
  Matrix gram(K, K);
  syrk(1.0, all, Op::transpose, 0.0, gram);
  const SymmetricEigen e = symmetric_eigen(std::move(gram));
  Index rank = 0;
  while (rank < K && e.values[K - 1 - rank] > rounding) ++rank;
  out.agreement = e.values.tail(rank).reverse();
  out.scores = product(all, Matrix(e.vectors.rightCols(rank).rowwise().reverse()));
  for (Index k = 0; k < rank; ++k)
    out.scores.col(k) *= std::sqrt(static_cast<double>(N) / out.agreement(k));
  return out;
}

Index SharedDirections::clear() const { return (agreement.array() > by_chance + rounding).count(); }

}  // namespace covary
