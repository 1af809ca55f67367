#include "covary/inference/sparse_posterior.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "covary/error.hpp"
#include "covary/linalg/blas.hpp"
#include "covary/linalg/parallel.hpp"

namespace covary {
namespace {

constexpr Index block = 512;  // rows predicted at a time

RowBlock rows_of(ConstRows X, Index first, Index n) {
  return {X.data() + first * X.outerStride(), n, X.cols(), X.outerStride(), first};
}

// t1 = Luu⁻¹k_u(x) for some rows.
Matrix whitened(const Features& features, const double* theta, const double* z, const Matrix& Luu,
                const RowBlock& x) {
  Matrix t(features.size(), x.n);
  features.Kuf(theta, z, x, t.data());
  solve_lower(Luu, t);
  return t;
}

void for_blocks(Index rows, const std::function<void(Index first, Index n)>& body) {
  parallel_for((rows + block - 1) / block,
               [&](Index b) { body(b * block, std::min(block, rows - b * block)); });
}

// F with F·Fᵀ = L⁻ᵀAL⁻¹, A = I − B⁻¹; empty where A is singular to more than rounding, as it is
// when data do not reach an inducing variable. Jitter on A is a share of every variance: little is
// allowed.
Matrix triangular_route(const Matrix& A, const Matrix& L) {
  if (!(A.diagonal().minCoeff() > 0.0)) return {};
  try {
    const Cholesky S = cholesky(A, "I − B⁻¹");
    if (S.jitter > 1e-12) return {};
    Matrix St = S.L.transpose();
    solve_lower_right(L, St);
    return gram_factor(std::move(St));
  } catch (const NumericalError&) {
    return {};
  }
}

}  // namespace

SparsePosterior::SparsePosterior(SparsePosteriorParts parts) : parts_(std::move(parts)) {
  const Index M = parts_.features->size();
  dims_ = parts_.features->dims();
  if (parts_.Luu.rows() != M || parts_.Luu.cols() != M)
    throw InputError("a sparse posterior needs the factor of its Kuu");
  for (const auto& g : parts_.groups) {
    outputs_ += static_cast<Index>(g.columns.size());
    if (g.LB.rows() != M || g.LB.cols() != M || g.c.rows() != M ||
        g.c.cols() != static_cast<Index>(g.columns.size()))
      throw InputError("a sparse posterior's factors do not fit its features");
  }
  prepare();
}

void SparsePosterior::prepare() {
  // The product with F loses u·κ(L) of a variance; the solves lose less.
  constexpr double largest_condition = 1e10;
  const double condition = Cholesky{parts_.Luu, 0.0}.condition_estimate();  // of Kuu: κ(L)²
  bool all = true;
  for (const auto& g : parts_.groups) {
    Fast f{g.c, {}};
    solve_lower(g.LB, f.weights, Op::transpose);
    solve_lower(parts_.Luu, f.weights, Op::transpose);
    if (condition <= largest_condition && parts_.approximation.kind != Approximation::Kind::sor) {
      // I − B⁻¹ = B⁻¹C = SSᵀ; then F comes from SᵀL⁻¹.
      Matrix C = product(g.LB, g.LB, Op::none, Op::transpose);
      C.diagonal().array() -= 1.0;
      solve_lower(g.LB, C);
      solve_lower(g.LB, C, Op::transpose);
      const Matrix shrunk = 0.5 * (C + C.transpose());
      f.F = triangular_route(shrunk, parts_.Luu);
    }
    all = all && f.F.size() > 0;
    fast_.push_back(std::move(f));
  }
  if (!all)  // one way for every group
    for (auto& f : fast_) f.F.resize(0, 0);
}

double SparsePosterior::value() const {
  double sum = 0.0;
  for (const auto& g : parts_.groups) sum += g.value();
  return sum;
}

void SparsePosterior::check_inputs(ConstRows X) const {
  if (X.cols() != dims_)
    throw InputError(fmt::format(
        "the model was trained on {} input columns, the new inputs have {}", dims_, X.cols()));
  if (!X.allFinite()) throw InputError("predictions need finite inputs");
}

const SparseFactors& SparsePosterior::group_of(Index output, Index* column) const {
  for (const auto& g : parts_.groups) {
    const auto at = std::find(g.columns.begin(), g.columns.end(), output);
    if (at == g.columns.end()) continue;
    if (column) *column = at - g.columns.begin();
    return g;
  }
  throw InputError(fmt::format("there is no output {}, the model has {}", output, outputs_));
}

SparsePosterior::Split SparsePosterior::split(ConstRows X) const {
  check_inputs(X);
  const Index n = X.rows();
  const SparseValues& v = parts_.values;
  Split out{RowMatrix::Zero(n, outputs_), RowMatrix(n, outputs_), Vector(n)};
  if (!parts_.mean.is_zero()) out.g_mean = product(parts_.mean.basis(X), v.mean_weights);
  for_blocks(n, [&](Index first, Index size) {
    const RowBlock x = rows_of(X, first, size);
    const Matrix t = whitened(*parts_.features, v.theta.data(), v.z.data(), parts_.Luu, x);
    auto h = out.h_variance.segment(first, size);
    parts_.kernel.node().diagonal(v.theta.data(), x, h.data());
    h = (h - t.colwise().squaredNorm().transpose()).cwiseMax(0.0);
    for (std::size_t i = 0; i < parts_.groups.size(); ++i) {
      const auto& g = parts_.groups[i];
      Matrix t2 = t;
      solve_lower(g.LB, t2);
      const Matrix mean = product(t2, g.c, Op::transpose);
      const Vector variance = t2.colwise().squaredNorm().transpose();
      for (std::size_t c = 0; c < g.columns.size(); ++c) {
        out.g_mean.col(g.columns[c]).segment(first, size) += mean.col(static_cast<Index>(c));
        out.g_variance.col(g.columns[c]).segment(first, size) = variance;
      }
    }
  });
  return out;
}

Prediction SparsePosterior::predict(ConstRows X) const {
  const bool degenerate = parts_.approximation.kind == Approximation::Kind::sor;
  Prediction out;
  if (degenerate || fast_.front().F.size() == 0) {
    Split s = split(X);
    out = {std::move(s.g_mean), std::move(s.g_variance), {}};
    if (!degenerate) out.variance_f.colwise() += s.h_variance;
  } else {
    out = {mean_function(X), RowMatrix(X.rows(), outputs_), {}};
    const SparseValues& v = parts_.values;
    for_blocks(X.rows(), [&](Index first, Index size) {
      const RowBlock x = rows_of(X, first, size);
      Matrix K(parts_.features->size(), size);
      parts_.features->Kuf(v.theta.data(), v.z.data(), x, K.data());
      Vector prior(size);
      parts_.kernel.node().diagonal(v.theta.data(), x, prior.data());
      for (std::size_t i = 0; i < parts_.groups.size(); ++i) {
        const auto& columns = parts_.groups[i].columns;
        const Matrix mean = product(K, fast_[i].weights, Op::transpose);
        Matrix t = K;
        multiply_lower(fast_[i].F, t, Op::transpose);
        const Vector variance = (prior - t.colwise().squaredNorm().transpose()).cwiseMax(0.0);
        for (std::size_t c = 0; c < columns.size(); ++c) {
          out.mean.col(columns[c]).segment(first, size) += mean.col(static_cast<Index>(c));
          out.variance_f.col(columns[c]).segment(first, size) = variance;
        }
      }
    });
  }
  out.variance_y = out.variance_f.array() + parts_.values.noise;
  return out;
}

// The mean function, to which the features' share is added.
RowMatrix SparsePosterior::mean_function(ConstRows X) const {
  check_inputs(X);
  if (parts_.mean.is_zero()) return RowMatrix::Zero(X.rows(), outputs_);
  return product(parts_.mean.basis(X), parts_.values.mean_weights);
}

RowMatrix SparsePosterior::predict_mean(ConstRows X) const {
  const SparseValues& v = parts_.values;
  RowMatrix out = mean_function(X);
  for_blocks(X.rows(), [&](Index first, Index size) {
    Matrix k(parts_.features->size(), size);
    parts_.features->Kuf(v.theta.data(), v.z.data(), rows_of(X, first, size), k.data());
    for (std::size_t i = 0; i < parts_.groups.size(); ++i) {
      const Matrix mean = product(k, fast_[i].weights, Op::transpose);
      for (std::size_t c = 0; c < parts_.groups[i].columns.size(); ++c)
        out.col(parts_.groups[i].columns[c]).segment(first, size) +=
            mean.col(static_cast<Index>(c));
    }
  });
  return out;
}

Matrix SparsePosterior::covariance(ConstRows X, Index output) const {
  check_inputs(X);
  const SparseFactors& g = group_of(output);
  const SparseValues& v = parts_.values;
  const bool degenerate = parts_.approximation.kind == Approximation::Kind::sor;
  Matrix C = degenerate ? Matrix::Zero(X.rows(), X.rows()) : gram(parts_.kernel, v.theta, X);
  Matrix t =
      whitened(*parts_.features, v.theta.data(), v.z.data(), parts_.Luu, rows_of(X, 0, X.rows()));
  if (!degenerate) syrk(-1.0, t, Op::transpose, 1.0, C);
  solve_lower(g.LB, t);
  syrk(1.0, t, Op::transpose, 1.0, C);
  mirror_lower(C);
  C.diagonal() = C.diagonal().cwiseMax(0.0);
  return C;
}

std::vector<ComponentPrediction> SparsePosterior::components(ConstRows X) const {
  check_inputs(X);
  const SparseValues& v = parts_.values;
  std::vector<ComponentPrediction> out;
  for (const auto& term : parts_.kernel.terms(dims_)) {
    const Kernel k(term.node);
    const FeaturesPtr features = parts_.features->for_term(k);
    const double* theta = v.theta.data() + term.offset;
    ComponentPrediction part{k.print(), RowMatrix(X.rows(), outputs_),
                             RowMatrix(X.rows(), outputs_)};
    for_blocks(X.rows(), [&](Index first, Index size) {
      const RowBlock x = rows_of(X, first, size);
      const Matrix t = whitened(*features, theta, v.z.data(), parts_.Luu, x);
      Vector h(size);
      k.node().diagonal(theta, x, h.data());
      h -= t.colwise().squaredNorm().transpose();
      for (const auto& g : parts_.groups) {
        Matrix t2 = t;
        solve_lower(g.LB, t2);
        const Matrix mean = product(t2, g.c, Op::transpose);
        const Vector variance = (h + t2.colwise().squaredNorm().transpose()).cwiseMax(0.0);
        for (std::size_t c = 0; c < g.columns.size(); ++c) {
          part.mean.col(g.columns[c]).segment(first, size) = mean.col(static_cast<Index>(c));
          part.variance.col(g.columns[c]).segment(first, size) = variance;
        }
      }
    });
    out.push_back(std::move(part));
  }
  return out;
}

// mean = k_xu·w, variance = k_xx − k_xu·Γ·k_ux with Γ = L⁻ᵀ(I − B⁻¹)L⁻¹ (for SoR +L⁻ᵀB⁻¹L⁻¹ alone).
PredictionGradient SparsePosterior::gradient(ConstRows X, Index output) const {
  check_inputs(X);
  Index column = 0;
  const SparseFactors& g = group_of(output, &column);
  const SparseValues& v = parts_.values;
  const Index n = X.rows();
  const bool degenerate = parts_.approximation.kind == Approximation::Kind::sor;
  PredictionGradient out{RowMatrix::Zero(n, dims_), RowMatrix::Zero(n, dims_)};
  if (!parts_.mean.is_zero()) out.mean = parts_.mean.gradient(X, v.mean_weights.col(output));
  Matrix w = g.c.col(column);
  solve_lower(g.LB, w, Op::transpose);
  solve_lower(parts_.Luu, w, Op::transpose);
  for_blocks(n, [&](Index first, Index size) {
    const RowBlock x = rows_of(X, first, size);
    Vector theta_bar = Vector::Zero(v.theta.size()), z_bar = Vector::Zero(v.z.size());
    const Matrix by_mean = w.replicate(1, size);
    parts_.features->Kuf_pullback(v.theta.data(), v.z.data(), x, nullptr, by_mean.data(),
                                  theta_bar.data(), z_bar.data(), out.mean.row(first).data());
    const Matrix t = whitened(*parts_.features, v.theta.data(), v.z.data(), parts_.Luu, x);
    Matrix s = t;
    solve_lower(g.LB, s);
    solve_lower(g.LB, s, Op::transpose);
    if (!degenerate) s -= t;
    s *= 2.0;
    solve_lower(parts_.Luu, s, Op::transpose);
    parts_.features->Kuf_pullback(v.theta.data(), v.z.data(), x, nullptr, s.data(),
                                  theta_bar.data(), z_bar.data(), out.variance.row(first).data());
    if (degenerate) return;
    const Vector ones = Vector::Ones(size);
    parts_.kernel.node().diagonal_pullback(v.theta.data(), x, ones.data(), theta_bar.data(),
                                           out.variance.row(first).data());
  });
  return out;
}

std::vector<RowMatrix> SparsePosterior::sample(ConstRows X, Index draws, std::uint64_t seed) const {
  if (draws < 1)
    throw InputError(fmt::format("the number of draws must be at least 1, got {}", draws));
  const RowMatrix mean = predict_mean(X);
  std::vector<RowMatrix> out(static_cast<std::size_t>(draws), mean);
  for (const auto& g : parts_.groups) {
    const Matrix C = covariance(X, g.columns.front());
    for (const Index p : g.columns) {
      const Matrix noise =
          covary::sample(Gaussian{Vector::Zero(X.rows()), C}, draws,
                         seed + static_cast<std::uint64_t>(p) * 0x9e3779b97f4a7c15u);
      for (Index s = 0; s < draws; ++s) out[static_cast<std::size_t>(s)].col(p) += noise.col(s);
    }
  }
  return out;
}

SparsePosterior SparsePosterior::with(ConstRows X, ConstRows Y, ConstVector point_noise) const {
  check_inputs(X);
  if (Y.rows() != X.rows() || Y.cols() != outputs_)
    throw InputError(fmt::format("the new outputs are {}×{}, expected {}×{}", Y.rows(), Y.cols(),
                                 X.rows(), outputs_));
  std::vector<std::vector<Index>> columns;
  for (const auto& g : parts_.groups) {
    columns.push_back(g.columns);
    for (const Index p : g.columns)
      for (Index i = 0; i < Y.rows(); ++i)
        if (std::isnan(Y(i, p)) != std::isnan(Y(i, g.columns.front())))
          throw InputError(fmt::format(
              "new row {} misses some of the outputs {} and not others, which the model took "
              "together; fit it again with these rows",
              i, fmt::join(g.columns, ", ")));
  }
  const RowMatrix dense = Y;
  const MemoryRows rows(X, dense, point_noise);
  const Sweep sweep = Sweep::for_features(rows, parts_.features->size());
  const SparseValues& v = parts_.values;
  const SweepContext c{
      parts_.features.get(), &parts_.kernel.node(), v.theta.data(), v.z.data(), v.noise,
      &parts_.mean,          v.mean_weights,        parts_.Luu};
  const auto fresh = weighted_statistics(c, parts_.approximation.rule(), sweep, columns);
  SparsePosteriorParts parts = parts_;
  for (std::size_t i = 0; i < fresh.size(); ++i) {
    SparseFactors& g = parts.groups[i];
    Matrix B = product(g.LB, g.LB, Op::none, Op::transpose) + fresh[i].C;
    Matrix beta = g.c;
    multiply_lower(g.LB, beta);
    g.c = beta + fresh[i].beta;
    g.LB = cholesky(std::move(B), "I + L⁻¹Kuf·W·KfuL⁻ᵀ").L;
    solve_lower(g.LB, g.c);
    g.rows += fresh[i].rows;
    g.rr += fresh[i].rr;
    g.log_w += fresh[i].log_w;
    g.term += fresh[i].term;
  }
  return SparsePosterior(std::move(parts));
}

Gaussian SparsePosterior::inducing(Index output) const {
  Index column = 0;
  const SparseFactors& g = group_of(output, &column);
  Matrix mean = g.c.col(column);
  solve_lower(g.LB, mean, Op::transpose);
  multiply_lower(parts_.Luu, mean);
  Matrix half = parts_.Luu.transpose();  // LB⁻¹Luuᵀ
  solve_lower(g.LB, half);
  return {mean.col(0), product(half, half, Op::transpose)};
}

}  // namespace covary
