#include "covary/inference/site_factor.hpp"

#include <cmath>

#include "covary/error.hpp"
#include "covary/linalg/blas.hpp"
#include "covary/linalg/cholesky.hpp"

namespace covary {
namespace {

// The factor of a matrix that need not be positive definite; jitter would hide that it is not.
bool factor_if_positive(const Matrix& A, Matrix& L) {
  Jitter jitter;
  try {
    L = cholesky(A, jitter, "the correction by sites of negative precision").L;
  } catch (const NumericalError&) {
    return false;
  }
  return jitter.added == 0.0;
}

}  // namespace

bool SiteFactor::compute(ConstMatrix K, ConstVector lambda) {
  const Index N = K.rows();
  root_ = lambda.cwiseMax(0.0).cwiseSqrt();
  Jitter jitter;
  L_.resize(N, N);
  cholesky_in_place(
      L_,
      [&] {
        for (Index j = 0; j < N; ++j)
          L_.col(j).tail(N - j) = root_(j) * root_.tail(N - j).cwiseProduct(K.col(j).tail(N - j));
        L_.diagonal().array() += 1.0;
      },
      jitter, "I + Λ^½KΛ^½");
  log_determinant_ = log_determinant_of_factor(L_);
  V_.resize(N, 0);

  std::vector<Index> negative;
  for (Index n = 0; n < N; ++n)
    if (lambda(n) < 0.0) negative.push_back(n);
  if (negative.empty()) return true;
  const Index J = static_cast<Index>(negative.size());
  Matrix U(N, J);  // (I − R₊K)·E·D^½
  for (Index j = 0; j < J; ++j) {
    const Index n = negative[static_cast<std::size_t>(j)];
    const double d = std::sqrt(-lambda(n));
    U.col(j) = -d * apply(K.col(n));
    U(n, j) += d;
  }
  const Matrix KU = product(K, U);
  Matrix C = Matrix::Identity(J, J);
  for (Index i = 0; i < J; ++i) {
    const Index n = negative[static_cast<std::size_t>(i)];
    C.row(i) -= std::sqrt(-lambda(n)) * KU.row(n);
  }
  Matrix LC;
  if (!factor_if_positive(C, LC)) return false;
  solve_lower_right(LC, U, Op::transpose);
  V_ = std::move(U);
  log_determinant_ += log_determinant_of_factor(LC);
  return true;
}

Vector SiteFactor::apply(ConstVector b) const {
  Matrix x = root_.cwiseProduct(b);
  solve_lower(L_, x);
  solve_lower(L_, x, Op::transpose);
  Vector out = root_.cwiseProduct(x.col(0));
  if (V_.cols() > 0) out -= multiply(V_, multiply(V_, b, Op::transpose));
  return out;
}

Matrix SiteFactor::dense() const {
  Matrix R = L_;
  inverse_in_place(R);
  const Index N = R.cols();
  for (Index j = 0; j < N; ++j)
    R.col(j).tail(N - j).array() *= root_(j) * root_.tail(N - j).array();
  if (V_.cols() > 0) syrk(-1.0, V_, Op::none, 1.0, R);
  mirror_lower(R);
  return R;
}

// As B = I + Λ^½KΛ^½, the diagonal of (K⁻¹ + Λ)⁻¹ is (1 − (B⁻¹)_nn)/Λ_n: a third of the flops of
// k_nn − k_nᵀRk_n. It loses 1/(Λ_n·k_nn) to rounding, so rows of little precision take the other.
Vector SiteFactor::variances(ConstMatrix K, const Matrix* R) const {
  constexpr double least = 1e-2;
  const Index N = K.rows();
  if (V_.cols() > 0) return K.diagonal() - reduction(K);
  Matrix inverse;
  if (!R) {
    inverse = L_;
    invert_lower_in_place(inverse);
  }
  Vector out(N);
  std::vector<Index> others;
  for (Index n = 0; n < N; ++n) {
    const double precision = root_(n) * root_(n);
    if (!(precision * K(n, n) >= least)) {
      others.push_back(n);
      continue;
    }
    const double B_inverse = R ? (*R)(n, n) / precision : inverse.col(n).tail(N - n).squaredNorm();
    out(n) = (1.0 - B_inverse) / precision;
  }
  if (!others.empty()) {
    const Matrix k = K(Eigen::all, others);
    out(others) = K.diagonal()(others) - reduction(k);
  }
  return out;
}

Vector SiteFactor::reduction(Matrix k) const {
  Vector out = Vector::Zero(k.cols());
  if (V_.cols() > 0) out -= product(V_, k, Op::transpose).colwise().squaredNorm().transpose();
  for (Index j = 0; j < k.cols(); ++j) k.col(j).array() *= root_.array();
  solve_lower(L_, k);
  return out + k.colwise().squaredNorm().transpose();
}

}  // namespace covary
