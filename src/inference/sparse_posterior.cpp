#include "covary/inference/sparse_posterior.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "covary/error.hpp"
#include "covary/inference/compression.hpp"
#include "covary/inference/uncollapsed.hpp"
#include "covary/kernels/input_moments.hpp"
#include "covary/linalg/blas.hpp"
#include "covary/linalg/parallel.hpp"
#include "inference/sparse_blocks.hpp"

namespace covary {
namespace {

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
  const bool by_rows = parts_.approximation.kind == Approximation::Kind::cglb;
  if (by_rows ? parts_.X.cols() != dims_ || parts_.v.rows() != parts_.X.rows() ||
                    parts_.v.cols() != outputs_
              : parts_.X.size() + parts_.v.size() > 0)
    throw InputError("a CGLB posterior needs its rows and a weight for each; others have neither");
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

bool SparsePosterior::can(Capability c) const {
  using Kind = Approximation::Kind;
  const Kind kind = parts_.approximation.kind;
  const bool is_process = kind != Kind::sor && kind != Kind::cglb,
             points = parts_.features->inputs(parts_.values.z.data()).has_value();
  switch (c) {
    case Capability::outputs:
      return !std::isnan(parts_.values.noise);
    case Capability::components:
    case Capability::gradients:
    case Capability::inducing:
    case Capability::split:
      return true;
    case Capability::gaussian_inputs:
      return is_process && parts_.mean.is_zero() &&
             parts_.features->input_moments(parts_.values.theta.data(), parts_.values.z.data());
    case Capability::function_draws:
    case Capability::compression:
      return is_process && points;
    case Capability::further_rows:
      return kind != Kind::cglb;
    default:
      return false;
  }
}

Index SparsePosterior::rows() const {
  double most = 0.0;
  for (const auto& g : parts_.groups) most = std::max(most, g.rows);
  return static_cast<Index>(most);
}

double SparsePosterior::noise_variance() const {
  return can(Capability::outputs) ? parts_.values.noise : PosteriorNode::noise_variance();
}

double SparsePosterior::stored_numbers() const {
  return covary::stored_numbers(*parts_.features, outputs_);
}

WhitenedGaussian SparsePosterior::q_of_v() const { return optimal_q(parts_.groups, outputs_); }

double SparsePosterior::log_evidence() const {
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

SplitPrediction SparsePosterior::split(ConstRows X) const {
  check_inputs(X);
  const Index n = X.rows();
  const SparseValues& v = parts_.values;
  SplitPrediction out{mean_function(X), RowMatrix(n, outputs_), Vector(n)};
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

Prediction SparsePosterior::of_functions(ConstRows X) const {
  const bool degenerate = parts_.approximation.kind == Approximation::Kind::sor;
  Prediction out;
  if (degenerate || fast_.front().F.size() == 0) {
    SplitPrediction s = split(X);
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
  return out;
}

Prediction SparsePosterior::predict(ConstRows X) const {
  const double noise = noise_variance();
  Prediction out = of_functions(X);
  out.variance_y = out.variance_f.array() + noise;
  return out;
}

double SparsePosterior::observations() const {
  double sum = 0.0;
  for (const auto& g : parts_.groups) sum += g.rows * static_cast<double>(g.columns.size());
  return sum;
}

FunctionMarginals SparsePosterior::marginals(ConstRows X) const {
  const Prediction p = of_functions(X);
  return {p.mean, p.variance_f};
}

// The mean function and CGLB's k(x, X)·v, to which the features' share is added.
RowMatrix SparsePosterior::mean_function(ConstRows X) const {
  check_inputs(X);
  RowMatrix out = RowMatrix::Zero(X.rows(), outputs_);
  if (!parts_.mean.is_zero()) out = product(parts_.mean.basis(X), parts_.values.mean_weights);
  if (parts_.v.rows() > 0) add_rows_share(parts_.kernel, parts_.values.theta, X, out);
  return out;
}

// Adds k(x, X)·v, in tiles that stay in the cache.
void SparsePosterior::add_rows_share(const Kernel& kernel, ConstVector theta, ConstRows X,
                                     RowMatrix& out) const {
  constexpr Index height = 128, width = 128;
  parallel_for((X.rows() + height - 1) / height, [&](Index b) {
    const Index first = b * height, n = std::min(height, X.rows() - first);
    Matrix K(n, width), sum = Matrix::Zero(n, outputs_);
    for (Index j = 0; j < parts_.X.rows(); j += width) {
      const Index m = std::min(width, parts_.X.rows() - j);
      kernel.node().evaluate(theta.data(), {rows_of(X, first, n), rows_of(parts_.X, j, m), false},
                             K.data());
      gemm(1.0, K.leftCols(m), Op::none, parts_.v.middleRows(j, m), Op::none, 1.0, sum);
    }
    out.middleRows(first, n) += sum;
  });
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

}  // namespace covary
