#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>

#include "covary/linalg/blas.hpp"
#include "covary/linalg/parallel.hpp"
#include "covary/linalg/types.hpp"

// What the tests of this room compare with: the definitions as plain loops.
namespace covary {

inline Matrix random_matrix(Index rows, Index cols, unsigned seed) {
  std::mt19937_64 engine(seed);
  std::normal_distribution<double> normal;
  return Matrix::NullaryExpr(rows, cols, [&] { return normal(engine); });
}

// Well-conditioned lower triangle; what is above the diagonal must never be read.
inline Matrix random_lower(Index n, unsigned seed) {
  Matrix L = random_matrix(n, n, seed) / std::sqrt(static_cast<double>(n) + 1.0);
  for (Index j = 0; j < n; ++j) {
    L(j, j) = 1.0 + std::abs(L(j, j));
    for (Index i = 0; i < j; ++i) L(i, j) = std::numeric_limits<double>::quiet_NaN();
  }
  return L;
}

inline Matrix lower_part(const Matrix& A) {
  Matrix L = A;
  for (Index j = 0; j < L.cols(); ++j)
    for (Index i = 0; i < std::min(j, L.rows()); ++i) L(i, j) = 0.0;
  return L;
}

// Raw pointers, for builds without optimisation.
inline Matrix naive_product(const Matrix& A, const Matrix& B) {
  const Index m = A.rows(), n = B.cols(), inner = A.cols();
  Matrix C = Matrix::Zero(m, n);
  for (Index j = 0; j < n; ++j)
    for (Index k = 0; k < inner; ++k) {
      const double *a = A.data() + k * m, b = B(k, j);
      double* c = C.data() + j * m;
      for (Index i = 0; i < m; ++i) c[i] += a[i] * b;
    }
  return C;
}

// AAᵀ/n + ½I: a covariance with a condition number below ten or so.
inline Matrix random_covariance(Index n, unsigned seed) {
  const Matrix A = random_matrix(n, n, seed);
  Matrix S = naive_product(A, A.transpose()) / static_cast<double>(n);
  S.diagonal().array() += 0.5;
  return S;
}

inline double largest_difference(const Matrix& A, const Matrix& B) {
  if (A.rows() != B.rows() || A.cols() != B.cols()) return std::numeric_limits<double>::infinity();
  if (A.size() == 0) return 0.0;
  const Matrix difference = A - B;
  return difference.allFinite() ? difference.cwiseAbs().maxCoeff()
                                : std::numeric_limits<double>::infinity();
}

// The number of threads of a scope.
class WithThreads {
 public:
  explicit WithThreads(int n) : before_(threads()) { set_threads(n); }
  ~WithThreads() { set_threads(before_); }
  WithThreads(const WithThreads&) = delete;
  WithThreads& operator=(const WithThreads&) = delete;

 private:
  int before_;
};

}  // namespace covary
