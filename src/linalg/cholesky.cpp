#include "covary/linalg/cholesky.hpp"

#include <fmt/format.h>

#include <cmath>
#include <limits>

#include "covary/error.hpp"
#include "covary/linalg/blas.hpp"
#include "linalg/dense.hpp"
#include "linalg/lapack.hpp"

namespace covary {
namespace {

constexpr double first_rung = 1e-12, last_rung = 1e-4;

// Which earlier row the failing one most resembles: the usual cause is two rows that coincide.
std::string likely_cause(ConstMatrix A, Index row) {
  Index twin = -1;
  double best = 0.0;
  for (Index j = 0; j < row; ++j) {
    const double r = std::abs(A(row, j)) / std::sqrt(A(row, row) * A(j, j));
    if (r > best) best = r, twin = j;
  }
  if (best > 1.0 + 1e-6)
    return fmt::format("rows {} and {} have a correlation of {:.6g}, above one: no covariance",
                       twin, row, best);
  if (best > 1.0 - 1e-6)
    return fmt::format("rows {} and {} are the same to {:.1e}; merge them or raise the noise", twin,
                       row, std::abs(1.0 - best));
  return fmt::format(
      "row {} is a combination of the rows before it: a lengthscale that ran to a large value, or "
      "a noise variance that ran to zero, does this",
      row);
}

void check_symmetric_input(ConstMatrix A, const std::string& name) {
  if (A.rows() != A.cols())
    throw InputError(fmt::format("{} must be square, got {}×{}", name, A.rows(), A.cols()));
}

// The mean of the diagonal, after checking that it can be that of a covariance.
double mean_diagonal(ConstMatrix A, const std::string& name) {
  for (Index i = 0; i < A.rows(); ++i)
    if (!std::isfinite(A(i, i)) || A(i, i) < 0.0)
      throw NumericalError(fmt::format("{}: diagonal entry {} is {}", name, i, A(i, i)));
  return A.rows() ? A.diagonal().mean() : 0.0;
}

// The row of the first pivot that is not a positive number, or −1. LAPACK lets not-a-number pass.
Index first_bad_pivot(MatrixOut A) {
  const Index failed = factor_tiles(A);
  for (Index i = 0; failed < 0 && i < A.rows(); ++i)
    if (!std::isfinite(A(i, i))) return i;
  return failed;
}

// Factors the filled A, climbing the ladder relative to `mean`. A failure leaves `jitter` as it
// was: a rejected step of an optimiser must not burden the steps after it.
void climb(MatrixOut A, const std::function<void()>& fill, double mean, Jitter& jitter,
           const std::string& name) {
  Jitter trial = jitter;
  for (;;) {
    trial.added = std::max(trial.asked, trial.rung * mean);
    if (trial.added > 0.0) A.diagonal().array() += trial.added;
    const Index failed = first_bad_pivot(A);
    if (failed < 0) break;
    fill();
    if (!A.row(failed).head(failed + 1).allFinite())
      throw NumericalError(fmt::format(
          "{} ({}×{}) has an entry in row {} that is not finite; inputs or parameters overflow",
          name, A.rows(), A.cols(), failed));
    if (trial.rung >= last_rung * 0.99)
      throw NumericalError(fmt::format(
          "{} ({}×{}) is not positive definite, even with jitter {:.1e} ({:.0e} of its mean "
          "diagonal): the pivot of row {} is not positive; {}",
          name, A.rows(), A.cols(), trial.added, trial.rung, failed, likely_cause(A, failed)));
    do trial.rung = trial.rung == 0.0 ? first_rung : trial.rung * 10.0;
    while (trial.rung * mean <= trial.asked && trial.rung < last_rung * 0.99);
    trial.raised = true;
  }
  jitter = trial;
}

}  // namespace

void cholesky_in_place(MatrixOut A, const std::function<void()>& fill, Jitter& jitter,
                       const std::string& name) {
  check_symmetric_input(A, name);
  fill();
  climb(A, fill, mean_diagonal(A, name), jitter, name);
}

Cholesky cholesky(Matrix A, Jitter& jitter, const std::string& name) {
  check_symmetric_input(A, name);
  Cholesky out;
  out.L.resize(A.rows(), A.cols());
  cholesky_in_place(
      out.L, [&] { out.L = A; }, jitter, name);
  out.L.triangularView<Eigen::StrictlyUpper>().setZero();
  out.jitter = jitter.added;
  return out;
}

Cholesky cholesky(Matrix A, const std::string& name) {
  Jitter jitter;
  return cholesky(std::move(A), jitter, name);
}

void inverse_in_place(MatrixOut L) {
  invert_triangle_tiles(L);
  square_triangle_tiles(L);
}

void invert_lower_in_place(MatrixOut L) { invert_triangle_tiles(L); }

// P with its order turned around is L·Lᵀ; L turned back is an upper U with P = U·Uᵀ, so F = U⁻ᵀ.
bool factor_of_inverse(ConstMatrix P, Matrix& F) {
  const Index n = P.rows();
  Matrix W = P.reverse();
  if (first_bad_pivot(W) >= 0) return false;
  invert_triangle_tiles(W);
  F.resize(n, n);
  for (Index j = 0; j < n; ++j) {
    F.col(j).head(j).setZero();
    F.col(j).tail(n - j) = W.row(n - 1 - j).head(n - j).reverse();
  }
  return F.allFinite();
}

double log_determinant_of_factor(ConstMatrix L) {
  double sum = 0.0;
  for (Index i = 0; i < L.rows(); ++i) sum += std::log(L(i, i));
  return 2.0 * sum;
}

double Cholesky::log_determinant() const { return log_determinant_of_factor(L); }

Matrix Cholesky::solve(ConstMatrix B) const {
  Matrix X = B;
  solve_lower(L, X);
  solve_lower(L, X, Op::transpose);
  return X;
}

Matrix Cholesky::inverse() const {
  Matrix A = L;
  inverse_in_place(A);
  mirror_lower(A);
  return A;
}

double Cholesky::condition_estimate() const {
  if (L.rows() == 0) return 1.0;
  const Matrix A = product(L, L, Op::none, Op::transpose);
  return condition_estimate(A.cwiseAbs().colwise().sum().maxCoeff());
}

double Cholesky::condition_estimate(double norm) const {
  const int n = static_cast<int>(L.rows());
  if (n == 0) return 1.0;
  double rcond = 0.0;
  std::vector<double> work(static_cast<std::size_t>(3 * n));
  std::vector<int> iwork(static_cast<std::size_t>(n));
  int info = 0;
  dpocon_("L", &n, L.data(), &n, &norm, &rcond, work.data(), iwork.data(), &info, 1);
  return rcond > 0.0 ? 1.0 / rcond : std::numeric_limits<double>::infinity();
}

Matrix gram_factor(Matrix A) {
  const int m = static_cast<int>(A.rows()), n = static_cast<int>(A.cols());
  if (m < n)
    throw InputError(fmt::format("gram_factor: a {}×{} matrix has fewer rows than columns", m, n));
  if (n == 0) return Matrix(0, 0);
  std::vector<double> tau(static_cast<std::size_t>(n)), work(static_cast<std::size_t>(64 * n));
  const int size = 64 * n;
  int info = 0;
  dgeqrf_(&m, &n, A.data(), &m, tau.data(), work.data(), &size, &info);
  Matrix F = Matrix::Zero(n, n);
  for (Index j = 0; j < n; ++j) F.row(j).head(j + 1) = A.col(j).head(j + 1).transpose();
  return F;
}

// Givens rotations (hyperbolic for a downdate), one column at a time.
void rank_one_update(MatrixOut L, Vector v, double sign) {
  const Index n = L.rows();
  if (v.size() != n)
    throw InputError(
        fmt::format("rank-one update: the vector has {} entries, the factor {} rows", v.size(), n));
  if (sign != 1.0 && sign != -1.0)
    throw InputError(fmt::format("rank-one update: sign must be +1 or −1, got {}", sign));
  for (Index k = 0; k < n; ++k) {
    const double square = L(k, k) * L(k, k) + sign * v(k) * v(k);
    if (!(square > 0.0))
      throw NumericalError(fmt::format(
          "rank-one downdate leaves row {} without a positive pivot ({:.3e})", k, square));
    const double r = std::sqrt(square), c = r / L(k, k), s = v(k) / L(k, k);
    L(k, k) = r;
    for (Index i = k + 1; i < n; ++i) {
      L(i, k) = (L(i, k) + sign * s * v(i)) / c;
      v(i) = c * v(i) - s * L(i, k);
    }
  }
}

Cholesky append_rows(const Cholesky& A, ConstMatrix B, ConstMatrix C, Jitter& jitter,
                     const std::string& name) {
  const Index n = A.size(), m = C.rows();
  if (B.rows() != m || B.cols() != n || C.cols() != m)
    throw InputError(
        fmt::format("{}: cannot append a {}×{} block beside a {}×{} corner to a factor of {} rows",
                    name, B.rows(), B.cols(), C.rows(), C.cols(), n));
  Cholesky out;
  out.L = Matrix::Zero(n + m, n + m);
  out.L.topLeftCorner(n, n) = A.L;
  Matrix row = B;  // L21 = B·L11⁻ᵀ
  solve_lower_right(A.L, row, Op::transpose);
  Matrix schur;  // L22·L22ᵀ = C − L21·L21ᵀ
  const auto fill = [&] {
    schur = C;
    schur.diagonal().array() += A.jitter;
    syrk(-1.0, row, Op::none, 1.0, schur);
  };
  // What A has already is not added twice, and rungs are relative to C, not to what is left of it.
  Jitter extra = jitter;
  extra.asked = std::max(0.0, jitter.asked - A.jitter);
  extra.rung = 0.0;
  fill();
  climb(schur, fill, mean_diagonal(C, name), extra, name);
  jitter.added = A.jitter + extra.added;
  jitter.rung = std::max(jitter.rung, extra.rung);
  jitter.raised = extra.raised;
  out.L.bottomLeftCorner(m, n) = row;
  out.L.bottomRightCorner(m, m) = schur.triangularView<Eigen::Lower>();
  out.jitter = jitter.added;
  return out;
}

}  // namespace covary
