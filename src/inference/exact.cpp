#include "covary/inference/exact.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "covary/error.hpp"
#include "covary/linalg/blas.hpp"

namespace covary {
namespace {

constexpr double log_2pi = 1.83787706640934548356;

// log Π_p N(y_p; 0, K + Σ) for complete columns.
double evidence_of_complete(const KernelNode& kernel, const double* theta, ConstRows X,
                            ConstMatrix Y, ConstVector noise, Jitter& jitter, ExactGradient* g,
                            Matrix& K) {
  const Index N = X.rows(), P = Y.cols();
  K.resize(N, N);
  cholesky_in_place(
      K,
      [&] {
        gram_lower(kernel, theta, X, K);
        K.diagonal() += noise;
      },
      jitter, "the covariance of y");
  Matrix A = Y;  // L⁻¹Y, later K⁻¹Y
  solve_lower(K, A);
  const double n = static_cast<double>(N), p = static_cast<double>(P);
  const double value = -0.5 * (A.squaredNorm() + p * (log_determinant_of_factor(K) + n * log_2pi));
  if (!g) return value;

  solve_lower(K, A, Op::transpose);
  inverse_in_place(K);  // lower triangle of K⁻¹
  // ∂/∂K = ½(AAᵀ − P·K⁻¹), made a tile at a time; K holds the lower triangle of K⁻¹ only.
  const auto weights = [&](Index i, Index ni, Index j, Index nj, double* tile) {
    for (Index c = 0; c < nj; ++c) {
      double* out = tile + c * ni;
      const Index below = std::clamp<Index>(j + c - i, 0, ni);  // rows above the diagonal, mirrored
      for (Index r = 0; r < below; ++r) out[r] = -0.5 * p * K(j + c, i + r);
      const double* column = K.data() + (j + c) * N + i;
      for (Index r = below; r < ni; ++r) out[r] = -0.5 * p * column[r];
      for (Index q = 0; q < P; ++q) {
        const double a = 0.5 * A(j + c, q);
        const double* alpha = A.data() + q * N + i;
        for (Index r = 0; r < ni; ++r) out[r] += a * alpha[r];
      }
    }
  };
  RowMatrix X_bar = RowMatrix::Zero(g->want_X ? N : 0, X.cols());
  gram_pullback(kernel, theta, X, weights, g->theta_bar, g->want_X ? &X_bar : nullptr);
  g->X_bar = std::move(X_bar);
  g->point_noise_bar = 0.5 * (A.rowwise().squaredNorm() - p * K.diagonal());
  g->Y_bar = -A;
  return value;
}

}  // namespace

std::vector<Pattern> missing_patterns(ConstMatrix Y) {
  std::vector<Pattern> out;
  std::map<std::vector<Index>, std::size_t> seen;
  for (Index p = 0; p < Y.cols(); ++p) {
    std::vector<Index> rows;
    for (Index n = 0; n < Y.rows(); ++n)
      if (!std::isnan(Y(n, p))) rows.push_back(n);
    if (rows.empty())
      throw InputError(fmt::format("output column {} has no observed value; leave it out", p));
    const auto [at, fresh] = seen.try_emplace(rows, out.size());
    if (fresh) out.push_back({{}, std::move(rows)});
    out[at->second].columns.push_back(p);
  }
  return out;
}

double exact_log_evidence(const Kernel& kernel, ConstVector theta, ConstRows X, ConstMatrix Y,
                          double noise_variance, ConstVector point_noise, Jitter& jitter,
                          ExactGradient* gradient, Matrix* workspace) {
  const Index N = X.rows(), P = Y.cols();
  if (N == 0 || P == 0) throw InputError("there is no data: X or Y is empty");
  if (Y.rows() != N) throw InputError(fmt::format("X has {} rows, Y has {}", N, Y.rows()));
  if (point_noise.size() != 0 && point_noise.size() != N)
    throw InputError(
        fmt::format("point noise has {} entries, X has {} rows", point_noise.size(), N));
  if (theta.size() != kernel.parameter_count(X.cols()))
    throw InputError(fmt::format("{} needs {} parameters, got {}", kernel.print(),
                                 kernel.parameter_count(X.cols()), theta.size()));
  Vector noise = Vector::Constant(N, noise_variance);
  if (point_noise.size()) noise += point_noise;
  if (gradient) {
    gradient->theta_bar = Vector::Zero(theta.size());
    gradient->noise_bar = 0.0;
    gradient->point_noise_bar = Vector::Zero(N);
    gradient->Y_bar = Matrix::Zero(N, P);
    gradient->X_bar = RowMatrix::Zero(gradient->want_X ? N : 0, X.cols());
  }
  Matrix own;
  Matrix& K = workspace ? *workspace : own;
  double value = 0.0;
  for (const Pattern& pattern : missing_patterns(Y)) {
    ExactGradient part;
    part.want_X = gradient && gradient->want_X;
    part.theta_bar = Vector::Zero(theta.size());
    const bool whole = static_cast<Index>(pattern.rows.size()) == N;
    if (whole && static_cast<Index>(pattern.columns.size()) == P) {
      value += evidence_of_complete(kernel.node(), theta.data(), X, Y, noise, jitter,
                                    gradient ? &part : nullptr, K);
    } else {
      const RowMatrix Xo = X(pattern.rows, Eigen::all);
      const Matrix Yo = Y(pattern.rows, pattern.columns);
      const Vector so = noise(pattern.rows);
      value += evidence_of_complete(kernel.node(), theta.data(), Xo, Yo, so, jitter,
                                    gradient ? &part : nullptr, K);
    }
    if (!gradient) continue;
    gradient->theta_bar += part.theta_bar;
    gradient->noise_bar += part.point_noise_bar.sum();
    for (std::size_t r = 0; r < pattern.rows.size(); ++r) {
      const Index n = pattern.rows[r], from = static_cast<Index>(r);
      gradient->point_noise_bar(n) += part.point_noise_bar(from);
      if (gradient->want_X) gradient->X_bar.row(n) += part.X_bar.row(from);
      for (std::size_t c = 0; c < pattern.columns.size(); ++c)
        gradient->Y_bar(n, pattern.columns[c]) = part.Y_bar(from, static_cast<Index>(c));
    }
  }
  return value;
}

}  // namespace covary
