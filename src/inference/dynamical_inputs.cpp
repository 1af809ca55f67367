#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "covary/error.hpp"
#include "covary/inference/latent_inputs.hpp"
#include "covary/linalg/blas.hpp"
#include "covary/linalg/cholesky.hpp"
#include "covary/linalg/parallel.hpp"
#include "inference/dynamical_site.hpp"

namespace covary {
namespace {

// From the bar of A = LLᵀ's factor, given as LᵀL̄, to that of A: L⁻ᵀ sym(Φ(LᵀL̄)) L⁻¹, where Φ takes
// the lower triangle with half the diagonal.
Matrix cholesky_pullback(const Matrix& L, Matrix LtL_bar) {
  LtL_bar.triangularView<Eigen::StrictlyUpper>().setZero();
  LtL_bar.diagonal() *= 0.5;
  Matrix out = 0.5 * (LtL_bar + LtL_bar.transpose());
  solve_lower(L, out, Op::transpose);
  solve_lower_right(L, out);
  return out;
}

}  // namespace

DynamicalInputs::DynamicalInputs(DynamicalOptions options) : options_(std::move(options)) {
  const Index N = rows();
  if (N == 0) throw InputError("dynamics need the times of the rows");
  if (!options_.times.allFinite()) throw InputError("the times of the rows must be finite");
  options_.kernel.node().check(options_.times.cols());
  if (options_.sequences.empty()) options_.sequences = {0};
  const auto& starts = options_.sequences;
  if (starts.front() != 0) throw InputError("the first sequence must begin at row 0");
  for (std::size_t s = 0; s < starts.size(); ++s) {
    const Index end = s + 1 < starts.size() ? starts[s + 1] : N;
    if (end <= starts[s])
      throw InputError(fmt::format(
          "sequence {} begins at row {}: sequences must begin at increasing rows below {}", s,
          starts[s], N));
    blocks_.push_back({starts[s], end - starts[s]});
  }
}

Index DynamicalInputs::parameter_count() const {
  return 2 * rows() * dims() + options_.kernel.parameter_count(options_.times.cols());
}

Matrix DynamicalInputs::gram_of(const double* theta, const Block& b) const {
  const Eigen::Map<const Vector> values(theta,
                                        options_.kernel.parameter_count(options_.times.cols()));
  return gram(options_.kernel, values, options_.times.middleRows(b.first, b.n));
}

// What jitter the factor needs is part of the prior.
DynamicalInputs::Gram DynamicalInputs::factored(const double* theta, const Block& b) const {
  Gram out{gram_of(theta, b), Matrix()};
  Cholesky factor = cholesky(out.K, "the dynamics' Gram matrix");
  out.K.diagonal().array() += factor.jitter;
  out.L = std::move(factor.L);
  return out;
}

LatentMarginals DynamicalInputs::marginals(const double* values) const {
  const Index N = rows(), Q = dims();
  const Eigen::Map<const RowMatrix> v(values, N, Q), lambda(values + N * Q, N, Q);
  const double* theta = values + 2 * N * Q;
  LatentMarginals out{RowMatrix(N, Q), RowMatrix(N, Q), 0.0, Vector::Zero(Q)};
  for (const Block& b : blocks_) {
    const Gram gram = factored(theta, b);
    Matrix mean = v.middleRows(b.first, b.n);
    multiply_lower(gram.L, mean);
    out.mean.middleRows(b.first, b.n) = mean;
    parallel_for(Q, [&](Index q) {
      const Site site(gram.K, lambda.col(q).segment(b.first, b.n));
      out.variance.col(q).segment(b.first, b.n) = site.variances(gram.K);
      out.kl_of_dims(q) += 0.5 * (site.divergence() + v.col(q).segment(b.first, b.n).squaredNorm());
    });
  }
  out.kl = out.kl_of_dims.sum();
  return out;
}

// With B̂ = Λ^½B̃⁻¹Λ^½ and S = K − KB̂K:
//   ∂/∂v = Lᵀm̄ − v,  ∂/∂λ = −(S∘S)(s̄ + ½λ),
//   ∂/∂K = −½B̂KB̂ + E·diag(s̄)·Eᵀ + what comes through L, whose bar is m̄vᵀ; E = I − B̂K,
//   and the first two are −½B̂ + E(½B̂ + diag(s̄)·Eᵀ).
void DynamicalInputs::pullback(const double* values, const RowMatrix& mean_bar,
                               const RowMatrix& variance_bar, double* values_bar) const {
  const Index N = rows(), Q = dims(), d = options_.times.cols();
  const Eigen::Map<const RowMatrix> v(values, N, Q), lambda(values + N * Q, N, Q);
  Eigen::Map<RowMatrix> v_bar(values_bar, N, Q), lambda_bar(values_bar + N * Q, N, Q);
  const double* theta = values + 2 * N * Q;
  const Index T = options_.kernel.parameter_count(d);
  for (const Block& b : blocks_) {
    const Gram gram = factored(theta, b);
    const Matrix &K = gram.K, m_bar = mean_bar.middleRows(b.first, b.n),
                 own_v = v.middleRows(b.first, b.n);
    Matrix through = m_bar;
    multiply_lower(gram.L, through, Op::transpose);
    v_bar.middleRows(b.first, b.n) += through - own_v;
    Matrix K_bar = cholesky_pullback(gram.L, product(through, own_v, Op::none, Op::transpose));
    // Sums of a few lanes, added in order.
    const Index lanes = std::min<Index>(Q, 4);
    std::vector<Matrix> parts(static_cast<std::size_t>(lanes), Matrix::Zero(b.n, b.n));
    parallel_for(lanes, [&](Index lane) {
      Matrix& part = parts[static_cast<std::size_t>(lane)];
      for (Index q = lane; q < Q; q += lanes) {
        const Vector s_bar = variance_bar.col(q).segment(b.first, b.n);
        const Vector own = lambda.col(q).segment(b.first, b.n);
        const Site site(K, own);
        Matrix S = K;
        syrk(-1.0, site.V, Op::transpose, 1.0, S);
        mirror_lower(S);
        lambda_bar.col(q).segment(b.first, b.n) -= multiply(S.cwiseProduct(S), s_bar + 0.5 * own);
        Matrix B = site.L, rest = site.V;
        inverse_in_place(B);
        mirror_lower(B);
        B = site.root.asDiagonal() * B * site.root.asDiagonal();
        solve_lower(site.L, rest, Op::transpose);  // B̂K = Λ^½L⁻ᵀV
        rest = -(site.root.asDiagonal() * rest);
        rest.diagonal().array() += 1.0;
        part -= 0.5 * B;
        B = 0.5 * B + s_bar.asDiagonal() * rest.transpose();
        gemm(1.0, rest, Op::none, B, Op::none, 1.0, part);
      }
    });
    for (const Matrix& part : parts) K_bar += part;
    K_bar = Matrix(0.5 * (K_bar + K_bar.transpose()));
    const RowMatrix t = options_.times.middleRows(b.first, b.n);
    Vector theta_bar = Vector::Zero(T);
    gram_pullback(
        options_.kernel.node(), theta, t,
        [&](Index i, Index ni, Index j, Index nj, double* out) {
          Eigen::Map<Matrix>(out, ni, nj) = K_bar.block(i, j, ni, nj);
        },
        theta_bar);
    Eigen::Map<Vector>(values_bar + 2 * N * Q, T) += theta_bar;
  }
}

// With λ as the curvature of F, m = S(Λm + ∂F/∂m): a natural-gradient step of unit length. That of
// v = Lᵀ·∂F/∂mean alone overshoots by as much as the data say more than the prior.
Vector DynamicalInputs::fixed_point(const double* values, const RowMatrix& mean_bar,
                                    const RowMatrix& variance_bar) const {
  const Index N = rows(), Q = dims();
  const Eigen::Map<const RowMatrix> v(values, N, Q);
  Vector out(2 * N * Q);
  Eigen::Map<RowMatrix> to_v(out.data(), N, Q), lambda(out.data() + N * Q, N, Q);
  lambda = (-2.0 * variance_bar).cwiseMax(least_precision);
  for (const Block& b : blocks_) {
    const Gram gram = factored(values + 2 * N * Q, b);
    Matrix mean = v.middleRows(b.first, b.n);
    multiply_lower(gram.L, mean);
    parallel_for(Q, [&](Index q) {
      const Vector own = lambda.col(q).segment(b.first, b.n);
      const Site site(gram.K, own);
      const Vector natural = own.cwiseProduct(mean.col(q)) + mean_bar.col(q).segment(b.first, b.n);
      Matrix to =
          multiply(gram.K, natural) - multiply(site.V, multiply(site.V, natural), Op::transpose);
      solve_lower(gram.L, to);
      to_v.col(q).segment(b.first, b.n) = to;
    });
  }
  return out;
}

// Of v the information is I + LᵀΛL, with the inverse I − LᵀΛ^½B̃⁻¹Λ^½L; of λ it is ½S∘S, whose
// diagonal ½s² is next to nothing where the data say little: there 1/λ bounds what s may be taken
// for.
Matrix DynamicalInputs::natural(const double* values, const Matrix& r) const {
  constexpr double least_share = 0.3;  // of 1/λ
  const Index N = rows(), Q = dims();
  const Eigen::Map<const RowMatrix> lambda(values + N * Q, N, Q);
  Matrix out = r;
  for (const Block& b : blocks_) {
    const Gram gram = factored(values + 2 * N * Q, b);
    parallel_for(Q, [&](Index q) {
      const auto entry = [&](Index i) { return (b.first + i) * Q + q; };
      const Vector own = lambda.col(q).segment(b.first, b.n);
      const Site site(gram.K, own);
      Matrix a(b.n, r.cols());
      for (Index i = 0; i < b.n; ++i) a.row(i) = r.row(entry(i));
      multiply_lower(gram.L, a);
      a = site.root.asDiagonal() * a;
      solve_lower(site.L, a);
      solve_lower(site.L, a, Op::transpose);
      a = site.root.asDiagonal() * a;
      multiply_lower(gram.L, a, Op::transpose);
      const Vector s = site.variances(gram.K);
      for (Index i = 0; i < b.n; ++i) {
        out.row(entry(i)) -= a.row(i);
        const double at_least = std::max(s(i), least_share / own(i));
        out.row(N * Q + entry(i)) *= 2.0 / (at_least * at_least);
      }
    });
  }
  return out;
}

// mean k*L⁻ᵀv, variance k** − k*(K + Λ⁻¹)⁻¹k*ᵀ
LatentMarginals DynamicalInputs::forecast(const double* values, ConstRows times,
                                          Index sequence) const {
  const Index N = rows(), Q = dims(), n = times.rows();
  if (times.cols() != options_.times.cols())
    throw InputError(fmt::format("the times have {} columns, the model's {}", times.cols(),
                                 options_.times.cols()));
  if (sequence >= static_cast<Index>(blocks_.size()) || sequence < -1)
    throw InputError(
        fmt::format("sequence must be −1 (new) or 0 to {}, got {}", blocks_.size() - 1, sequence));
  const Eigen::Map<const RowMatrix> v(values, N, Q), lambda(values + N * Q, N, Q);
  const Index T = options_.kernel.parameter_count(times.cols());
  const Eigen::Map<const Vector> theta(values + 2 * N * Q, T);
  const Vector prior = diagonal(options_.kernel, theta, times);
  LatentMarginals out{RowMatrix::Zero(n, Q), RowMatrix(n, Q), 0.0, Vector::Zero(Q)};
  for (Index q = 0; q < Q; ++q) out.variance.col(q) = prior;
  if (sequence < 0) return out;
  const Block& b = blocks_[static_cast<std::size_t>(sequence)];
  const Gram gram = factored(theta.data(), b);
  const Matrix k = cross(options_.kernel, theta, options_.times.middleRows(b.first, b.n), times);
  Matrix weights = v.middleRows(b.first, b.n);
  solve_lower(gram.L, weights, Op::transpose);
  out.mean = product(k, weights, Op::transpose);
  for (Index q = 0; q < Q; ++q) {
    const Site site(gram.K, lambda.col(q).segment(b.first, b.n));
    Matrix V = site.root.asDiagonal() * k;
    solve_lower(site.L, V);
    out.variance.col(q) = (prior - V.colwise().squaredNorm().transpose()).cwiseMax(0.0);
  }
  return out;
}

}  // namespace covary
