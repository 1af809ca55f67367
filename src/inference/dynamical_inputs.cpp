#include <fmt/format.h>

#include <cmath>

#include "covary/error.hpp"
#include "covary/inference/latent_inputs.hpp"
#include "covary/linalg/blas.hpp"
#include "covary/linalg/cholesky.hpp"

namespace covary {
namespace {

// B̃ = I + Λ^½KΛ^½, whose eigenvalues are at least one: nothing here inverts K.
struct Site {
  Vector root;  // √λ
  Matrix L;     // of B̃
  Matrix V;     // L⁻¹Λ^½K, so that S = K − VᵀV
  Site(const Matrix& K, const Vector& lambda) : root(lambda.cwiseSqrt()) {
    Matrix B = root.asDiagonal() * K * root.asDiagonal();
    B.diagonal().array() += 1.0;
    L = cholesky(std::move(B), "I + Λ½KΛ½").L;
    V = root.asDiagonal() * K;
    solve_lower(L, V);
  }
  Vector variances(const Matrix& K) const {
    return (K.diagonal() - V.colwise().squaredNorm().transpose()).cwiseMax(0.0);
  }
  // tr B̃⁻¹ + log|B̃| − n, which is zero for λ = 0
  double divergence() const {
    Matrix inverse = Matrix::Identity(L.rows(), L.cols());
    solve_lower(L, inverse);
    return inverse.squaredNorm() + 2.0 * L.diagonal().array().log().sum() -
           static_cast<double>(L.rows());
  }
};

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
  if (starts.front() != 0) throw InputError("the first sequence begins at row 0");
  for (std::size_t s = 0; s < starts.size(); ++s) {
    const Index end = s + 1 < starts.size() ? starts[s + 1] : N;
    if (end <= starts[s])
      throw InputError(
          fmt::format("sequence {} begins at row {} and ends before it: sequences must begin at "
                      "rising rows below {}",
                      s, starts[s], N));
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

// Means as given, by v = L⁻¹X; one λ for all, such that the variances are about what is asked.
void DynamicalInputs::declare(Parameters& out, ConstRows means, double variance) const {
  const Index N = rows(), Q = dims(), d = options_.times.cols();
  DataScale scale = DataScale::unit(d);
  for (Index c = 0; c < d; ++c) {
    const Vector t = options_.times.col(c);
    scale.x_range(c) = std::max(t.maxCoeff() - t.minCoeff(), 1e-12);
    scale.x_sd(c) = std::max(std::sqrt((t.array() - t.mean()).square().mean()), 1e-12);
  }
  Parameters kernel = options_.kernel.parameters(scale, "dynamics");
  // The size of the latent space is the mappings' business: the first variance stays one.
  for (const Parameter& p : kernel.all())
    if (p.path.ends_with(".variance")) {
      kernel.set(p.path, 1.0);
      kernel.fix(p.path);
      break;
    }
  // And a nugget that keeps K well conditioned; trained, it goes to zero.
  for (const auto& term : options_.kernel.terms(d))
    if (term.node->is_white()) {
      const std::string path =
          "dynamics" + term.path.substr(std::string("kernel").size()) + ".variance";
      kernel.set(path, 1e-3);
      kernel.fix(path);
    }
  const Vector theta = kernel.values();
  RowMatrix whitened(N, Q);
  for (const Block& b : blocks_) {
    Matrix K = gram_of(theta.data(), b);
    K.diagonal().array() += 1e-3 * K.diagonal().mean();  // a start needs no exact interpolation
    Matrix X = means.middleRows(b.first, b.n);
    solve_lower(cholesky(std::move(K), "the dynamics' Gram matrix").L, X);
    whitened.middleRows(b.first, b.n) = X;
  }
  const auto typical = [&](double lambda) {
    Vector all(N);
    for (const Block& b : blocks_) {
      const Matrix K = gram_of(theta.data(), b);
      all.segment(b.first, b.n) = Site(K, Vector::Constant(b.n, lambda)).variances(K);
    }
    return all.mean();
  };
  double low = std::log(1e-4), high = std::log(1e6);
  for (int step = 0; step < 30; ++step) {
    const double middle = 0.5 * (low + high);
    (typical(std::exp(middle)) > variance ? low : high) = middle;
  }
  out.add({"latent.whitened", Eigen::Map<const Vector>(whitened.data(), N * Q), Transform::real(),
           N, Q});
  out.add(
      {"latent.precisions", Vector::Constant(N * Q, std::exp(low)), Transform::positive(), N, Q});
  for (const Parameter& p : kernel.all()) out.add(p);
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
    for (Index q = 0; q < Q; ++q) {
      const Site site(gram.K, lambda.col(q).segment(b.first, b.n));
      out.variance.col(q).segment(b.first, b.n) = site.variances(gram.K);
      out.kl_of_dims(q) += 0.5 * (site.divergence() + v.col(q).segment(b.first, b.n).squaredNorm());
    }
  }
  out.kl = out.kl_of_dims.sum();
  return out;
}

// With B̂ = Λ^½B̃⁻¹Λ^½ and S = K − KB̂K:
//   ∂/∂v = Lᵀm̄ − v,  ∂/∂λ = −(S∘S)(s̄ + ½λ),
//   ∂/∂K = −½B̂KB̂ + (I − B̂K)diag(s̄)(I − B̂K)ᵀ + what comes through L, whose bar is m̄vᵀ.
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
    for (Index q = 0; q < Q; ++q) {
      const Vector s_bar = variance_bar.col(q).segment(b.first, b.n);
      const Vector own = lambda.col(q).segment(b.first, b.n);
      const Site site(K, own);
      Matrix S = K;
      syrk(-1.0, site.V, Op::transpose, 1.0, S);
      mirror_lower(S);
      lambda_bar.col(q).segment(b.first, b.n) -= multiply(S.cwiseProduct(S), s_bar + 0.5 * own);
      // B̂K = Λ^½L⁻ᵀV
      Matrix BK = site.V;
      solve_lower(site.L, BK, Op::transpose);
      BK = site.root.asDiagonal() * BK;
      Matrix half = site.root.asDiagonal();
      solve_lower(site.L, half);  // L⁻¹Λ^½, so that B̂ = halfᵀ·half
      const Matrix B = product(half, half, Op::transpose, Op::none);
      gemm(-0.5, BK, Op::none, B, Op::none, 1.0, K_bar);
      Matrix rest = -BK;
      rest.diagonal().array() += 1.0;
      const Matrix weighted = rest * s_bar.asDiagonal();
      gemm(1.0, weighted, Op::none, rest, Op::transpose, 1.0, K_bar);
    }
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

// mean k*L⁻ᵀv, variance k** − k*(K + Λ⁻¹)⁻¹k*ᵀ
LatentMarginals DynamicalInputs::forecast(const double* values, ConstRows times,
                                          Index sequence) const {
  const Index N = rows(), Q = dims(), n = times.rows();
  if (times.cols() != options_.times.cols())
    throw InputError(fmt::format("the times have {} columns, the model's {}", times.cols(),
                                 options_.times.cols()));
  if (sequence >= static_cast<Index>(blocks_.size()) || sequence < -1)
    throw InputError(fmt::format("there is no sequence {}; there are {} from 0 on, and −1 is new",
                                 sequence, blocks_.size()));
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
