#pragma once

#include <cmath>
#include <vector>

#include "covary/linalg/types.hpp"

// VFE's collapsed bound and its gradients by plain loops in a wider floating-point type, for the
// squared exponential with one lengthscale: what the library is measured against.
namespace covary::testing {

template <class Real>
struct VfeReference {
  using Table = std::vector<std::vector<Real>>;  // rows
  struct Result {
    Real value, variance_bar, lengthscale_bar, noise_bar;
    Table Z_bar;
    // What relative errors of one rounding (2⁻⁵³) in every kernel value can do to the value, to
    // first order: the limit of any computation on kernel values in double precision.
    Real rounding;
  };

  // What does not depend on the noise: L, A = L⁻¹Kuf and C = AAᵀ.
  VfeReference(const RowMatrix& X, const RowMatrix& Y, const RowMatrix& Z, Real variance,
               Real lengthscale, Real jitter)
      : X_(X), Y_(Y), Z_(Z), v_(variance), l_(lengthscale) {
    const auto M = size(Z.rows()), N = size(X.rows());
    Kuu_ = pairs(Z, Z);
    L_ = Kuu_;
    for (std::size_t m = 0; m < M; ++m) L_[m][m] += jitter;
    factor(L_);
    Kuf_ = pairs(Z, X);
    A_ = Kuf_;
    solve(L_, A_);
    C_ = Table(M, std::vector<Real>(M));
    for (std::size_t i = 0; i < M; ++i)
      for (std::size_t j = 0; j <= i; ++j) C_[i][j] = C_[j][i] = dot(A_[i], A_[j]);
    residual_ = 0;
    for (std::size_t n = 0; n < N; ++n) {
      Real d = v_;
      for (std::size_t m = 0; m < M; ++m) d -= A_[m][n] * A_[m][n];
      residual_ += d;
    }
  }

  Result evaluate(Real noise, bool gradients) const {
    const auto M = C_.size(), N = size(X_.rows());
    Table B = C_;
    for (std::size_t i = 0; i < M; ++i)
      for (std::size_t j = 0; j < M; ++j) B[i][j] = C_[i][j] / noise + (i == j ? 1 : 0);
    factor(B);
    std::vector<Real> y(N);
    for (std::size_t n = 0; n < N; ++n) y[n] = Y_(static_cast<Index>(n), 0);
    Table c(M, std::vector<Real>(1));
    for (std::size_t m = 0; m < M; ++m) c[m][0] = dot(A_[m], y) / noise;
    solve(B, c);
    const Real tau = 2 * std::acos(Real(-1)), count = Real(N);
    Result out{};
    out.value =
        -count / 2 * std::log(tau * noise) - dot(y, y) / (2 * noise) - residual_ / (2 * noise);
    for (std::size_t m = 0; m < M; ++m) out.value += c[m][0] * c[m][0] / 2 - std::log(B[m][m]);
    if (gradients) differentiate(noise, B, c, y, out);
    return out;
  }

  // The log evidence of the exact model.
  static Real exact(const RowMatrix& X, const RowMatrix& Y, Real variance, Real lengthscale,
                    Real noise) {
    VfeReference none(X, Y, RowMatrix(0, X.cols()), variance, lengthscale, 0);
    Table K = none.pairs(X, X), y(size(X.rows()), std::vector<Real>(1));
    Real value = -Real(X.rows()) / 2 * std::log(2 * std::acos(Real(-1)));
    for (std::size_t n = 0; n < y.size(); ++n) {
      K[n][n] += noise;
      y[n][0] = Y(static_cast<Index>(n), 0);
    }
    factor(K);
    solve(K, y);
    for (std::size_t n = 0; n < y.size(); ++n) value -= std::log(K[n][n]) + y[n][0] * y[n][0] / 2;
    return value;
  }

 private:
  static std::size_t size(Index n) { return static_cast<std::size_t>(n); }
  static Real dot(const std::vector<Real>& a, const std::vector<Real>& b) {
    Real s = 0;
    for (std::size_t i = 0; i < a.size(); ++i) s += a[i] * b[i];
    return s;
  }
  Table pairs(const RowMatrix& P, const RowMatrix& Q) const {
    Table K(size(P.rows()), std::vector<Real>(size(Q.rows())));
    for (Index i = 0; i < P.rows(); ++i)
      for (Index j = 0; j < Q.rows(); ++j)
        K[size(i)][size(j)] = v_ * std::exp(-squared_distance(P, i, Q, j) / (2 * l_ * l_));
    return K;
  }
  static Real squared_distance(const RowMatrix& P, Index i, const RowMatrix& Q, Index j) {
    Real s = 0;
    for (Index d = 0; d < P.cols(); ++d) {
      const Real difference = Real(P(i, d)) - Real(Q(j, d));
      s += difference * difference;
    }
    return s;
  }
  // The lower triangle becomes the factor.
  static void factor(Table& A) {
    for (std::size_t i = 0; i < A.size(); ++i)
      for (std::size_t j = 0; j <= i; ++j) {
        Real s = A[i][j];
        for (std::size_t k = 0; k < j; ++k) s -= A[i][k] * A[j][k];
        A[i][j] = i == j ? std::sqrt(s) : s / A[j][j];
      }
  }
  static void subtract(std::vector<Real>& row, Real f, const std::vector<Real>& other) {
    for (std::size_t n = 0; n < row.size(); ++n) row[n] -= f * other[n];
  }
  // B ← L⁻¹B and B ← L⁻ᵀB
  static void solve(const Table& L, Table& B) {
    for (std::size_t i = 0; i < L.size(); ++i) {
      for (std::size_t k = 0; k < i; ++k) subtract(B[i], L[i][k], B[k]);
      for (Real& x : B[i]) x /= L[i][i];
    }
  }
  static void solve_transposed(const Table& L, Table& B) {
    for (std::size_t i = L.size(); i-- > 0;) {
      for (std::size_t k = i + 1; k < L.size(); ++k) subtract(B[i], L[k][i], B[k]);
      for (Real& x : B[i]) x /= L[i][i];
    }
  }

  // In the whitened basis, with C scaled by 1/σ²: b = B⁻¹Ay/σ², Q = B⁻¹C − bbᵀ,
  //   Ā = (QA + byᵀ)/σ²,   K̄uf = L⁻ᵀĀ,   K̄uu = −½L⁻ᵀ(CB⁻¹C + bbᵀ)L⁻¹.
  void differentiate(Real noise, const Table& LB, const Table& c, const std::vector<Real>& y,
                     Result& out) const {
    const auto M = C_.size(), N = y.size();
    Table b = c;
    solve_transposed(LB, b);
    Table X = C_;
    for (auto& row : X)
      for (Real& x : row) x /= noise;
    solve(LB, X);
    Table Q = X;
    solve_transposed(LB, Q);
    Table S(M, std::vector<Real>(M));
    for (std::size_t k = 0; k < M; ++k)
      for (std::size_t i = 0; i < M; ++i) subtract(S[i], -X[k][i], X[k]);
    Real shrunk = 0;
    for (std::size_t i = 0; i < M; ++i) {
      shrunk += Q[i][i];
      for (std::size_t j = 0; j < M; ++j) {
        Q[i][j] -= b[i][0] * b[j][0];
        S[i][j] += b[i][0] * b[j][0];
      }
    }
    Table K_bar(M, std::vector<Real>(N));
    for (std::size_t i = 0; i < M; ++i) {
      for (std::size_t k = 0; k < M; ++k) subtract(K_bar[i], -Q[i][k] / noise, A_[k]);
      subtract(K_bar[i], -b[i][0] / noise, y);
    }
    Real squares = 0;  // |α|², α = (y − Aᵀb)/σ²
    std::vector<Real> alpha = y;
    for (std::size_t m = 0; m < M; ++m) subtract(alpha, b[m][0], A_[m]);
    for (const Real a : alpha) squares += a * a / (noise * noise);
    out.noise_bar = (squares - (Real(N) - shrunk) / noise) / 2 + residual_ / (2 * noise * noise);
    out.variance_bar = -Real(N) / (2 * noise);
    out.Z_bar = Table(M, std::vector<Real>(size(Z_.cols())));

    solve_transposed(L_, K_bar);
    add(K_bar, Kuf_, X_, 1, out);
    solve_transposed(L_, S);
    for (std::size_t i = 0; i < M; ++i)
      for (std::size_t j = 0; j < i; ++j) std::swap(S[i][j], S[j][i]);
    solve_transposed(L_, S);
    for (std::size_t i = 0; i < M; ++i)
      for (std::size_t j = 0; j <= i; ++j) S[i][j] = S[j][i] = -(S[i][j] + S[j][i]) / 4;
    add(S, Kuu_, Z_, 2, out);  // z enters Kuu twice
    out.rounding = (out.rounding + Real(N) * v_ / (2 * noise)) * std::ldexp(Real(1), -53);
  }
  // The chain rule through k = v·exp(−½|z − x|²/l²).
  void add(const Table& K_bar, const Table& K, const RowMatrix& P, int times, Result& out) const {
    for (Index i = 0; i < Z_.rows(); ++i)
      for (Index j = 0; j < P.rows(); ++j) {
        const Real f = K_bar[size(i)][size(j)] * K[size(i)][size(j)];
        out.rounding += std::abs(f);
        out.variance_bar += f / v_;
        out.lengthscale_bar += f * squared_distance(Z_, i, P, j) / (l_ * l_ * l_);
        for (Index d = 0; d < Z_.cols(); ++d)
          out.Z_bar[size(i)][size(d)] += times * f * (Real(P(j, d)) - Real(Z_(i, d))) / (l_ * l_);
      }
  }

  const RowMatrix &X_, &Y_, &Z_;
  Real v_, l_, residual_;
  Table Kuu_, Kuf_, L_, A_, C_;
};

}  // namespace covary::testing
