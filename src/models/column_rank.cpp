#include "models/column_rank.hpp"

#include <cmath>

#include "covary/linalg/blas.hpp"

namespace covary {

std::vector<DependentColumn> dependent_columns(ConstMatrix A, double tolerance) {
  const Index F = A.cols();
  Matrix Q(A.rows(), F);          // an orthonormal basis of the columns that count, `rank` of them
  Matrix R = Matrix::Zero(F, F);  // column r: kept column r in that basis
  std::vector<Index> kept;
  std::vector<DependentColumn> out;
  for (Index j = 0; j < F; ++j) {
    const auto rank = static_cast<Index>(kept.size());
    const double length = A.col(j).norm();
    Vector rest = A.col(j), along = Vector::Zero(rank);
    for (int pass = 0; pass < 2 && rank > 0; ++pass) {
      const Vector c = multiply(Q.leftCols(rank), rest, Op::transpose);
      rest -= multiply(Q.leftCols(rank), c);
      along += c;
    }
    if (rest.norm() > tolerance * length) {
      R.col(rank).head(rank) = along;
      R(rank, rank) = rest.norm();
      Q.col(rank) = rest / rest.norm();
      kept.push_back(j);
      continue;
    }
    // The combination itself, by back substitution.
    DependentColumn found{j, {}};
    for (Index r = rank - 1; r >= 0; --r) {
      along[r] /= R(r, r);
      for (Index s = 0; s < r; ++s) along[s] -= along[r] * R(s, r);
    }
    for (Index r = 0; r < rank; ++r) {
      const Index column = kept[static_cast<std::size_t>(r)];
      if (std::abs(along[r]) * A.col(column).norm() > 1e-6 * length) found.of.push_back(column);
    }
    out.push_back(std::move(found));
  }
  return out;
}

}  // namespace covary
