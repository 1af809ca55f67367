#include "covary/inference/uncollapsed.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "covary/error.hpp"
#include "covary/linalg/blas.hpp"
#include "covary/linalg/parallel.hpp"
#include "inference/uncollapsed_steps.hpp"

namespace covary {
namespace {

// The functions first … of q that share a kernel.
struct Shared {
  const WhitenedGaussian& q;
  const std::vector<Matrix>& S;
  const UncollapsedGradient& data;
  Index first, count;
};

// With T = Σ ā_n a_nᵀ over the rows, which is not symmetric away from the best q, ∂F/∂Kuu is the
// symmetric part of −L⁻ᵀΦ(T)L⁻¹, where Φ takes the lower triangle with half the diagonal. From
// ā_n = m·m̄_n + 2v̄_n(S − I)a_n follows T = m·gᵀ + 2(S − I)H, column by column, and of the columns
// from c only the rows from c are needed. `beside` is done by a thread that the columns do not
// need. Of a block-diagonal Kuu one block is asked for, which needs no other of T or of L.
Matrix block_adjoint(const Matrix& Luu, const KuuBlock& b, const Shared& of,
                     const std::function<void()>& beside) {
  const auto L = Luu.block(b.first, b.first, b.size, b.size);
  const Index M = b.size, others = beside ? 1 : 0;
  const Index width = std::clamp<Index>((M / 4 + 7) / 8 * 8, 48, 64);
  Matrix T = Matrix::Zero(M, M);
  parallel_for((M + width - 1) / width + others, [&](Index task) {
    if (task < others) return beside();
    const Index c = (task - others) * width, w = std::min(width, M - c), below = M - c;
    const Index at = b.first + c;
    auto low = T.block(c, c, below, w);
    for (Index f = of.first; f < of.first + of.count; ++f) {
      const Matrix& H = of.data.H[static_cast<std::size_t>(f)];
      low -= 2.0 * H.block(at, at, below, w);
      gemm(2.0, of.S[static_cast<std::size_t>(f)].middleRows(at, below), Op::none,
           H.middleCols(at, w), Op::none, 1.0, low);
    }
    gemm(1.0, of.q.m.block(at, of.first, below, of.count), Op::none,
         of.data.g.block(at, of.first, w, of.count), Op::transpose, 1.0, low);
    low.topRows(w).triangularView<Eigen::StrictlyUpper>().setZero();
    low.diagonal() *= 0.5;
    solve_lower(L, T.middleCols(c, w), Op::transpose);
  });
  solve_lower_right(L, T, Op::none, -0.5);
  return T + T.transpose();
}

Matrix Kuu_adjoint(const Matrix& Luu, const std::vector<KuuBlock>& blocks, const Shared& of,
                   std::function<void()> beside) {
  if (blocks.size() == 1) return block_adjoint(Luu, blocks.front(), of, beside);
  Matrix out = Matrix::Zero(Luu.rows(), Luu.cols());
  for (const KuuBlock& b : blocks)
    if (!b.white)
      out.block(b.first, b.first, b.size, b.size) =
          block_adjoint(Luu, b, of, std::exchange(beside, nullptr));
  return out;
}

}  // namespace

double whitened_kl(const WhitenedGaussian& q, UncollapsedGradient* gradient) {
  double kl = 0.5 * q.m.squaredNorm();
  if (gradient) gradient->m_bar -= q.m;
  for (std::size_t p = 0; p < q.Ls.size(); ++p) {
    const Matrix& L = q.Ls[p];
    const bool thin = q.is_thin();
    for (Index j = 0; j < L.rows(); ++j) {
      const Index column = thin ? 0 : j, below = thin ? 1 : L.rows() - j;
      const double pivot = L(j, column);
      if (!(std::abs(pivot) > 0.0))
        throw InputError(fmt::format(
            "the factor of q's covariance has {} at place {} of its diagonal; it must not be zero",
            pivot, j));
      kl += 0.5 * L.col(column).segment(j, below).squaredNorm() - 0.5 - std::log(std::abs(pivot));
      if (!gradient) continue;
      Matrix& bar = gradient->Ls_bar[p];
      bar.col(column).segment(j, below) -= L.col(column).segment(j, below);
      bar(j, column) += 1.0 / pivot;
    }
  }
  return kl;
}

WhitenedGaussian optimal_q(const std::vector<SparseFactors>& factors, Index outputs) {
  WhitenedGaussian q;
  q.Ls.resize(static_cast<std::size_t>(outputs));
  for (const SparseFactors& f : factors) {
    const Index M = f.LB.rows();
    if (q.m.size() == 0) q.m = Matrix::Zero(M, outputs);
    Matrix mean = f.c;
    solve_lower(f.LB, mean, Op::transpose);
    const Matrix L = cholesky(Cholesky{f.LB}.inverse(), "the covariance of q").L;
    for (std::size_t i = 0; i < f.columns.size(); ++i) {
      q.m.col(f.columns[i]) = mean.col(static_cast<Index>(i));
      q.Ls[static_cast<std::size_t>(f.columns[i])] = L;
    }
  }
  return q;
}

RowLikelihood row_likelihood(const Likelihood& likelihood, ConstVector theta) {
  const Index L = likelihood.functions(), T = likelihood.parameter_count();
  if (theta.size() != T)
    throw InputError(
        fmt::format("{} has {} parameters, got {}", likelihood.print(), T, theta.size()));
  RowLikelihood out;
  out.parameters = T;
  out.per_datum = L;
  if (likelihood.node().conjugate()) out.gaussian_noise = theta(0);
  out.expectation = [likelihood, L, T, theta = Vector(theta)](const RowTerms& t) {
    const LikelihoodNode& node = likelihood.node();
    const double fallback = node.default_aux();
    // Of one row: m, v, m̄, v̄, θ̄ and the coupling.
    const Index pairs = t.coupling ? L * (L - 1) / 2 : 0;
    std::vector<double> room(static_cast<std::size_t>(4 * L + T + pairs));
    double *m = room.data(), *v = m + L, *m_bar = v + L, *v_bar = m_bar + L, *own = v_bar + L;
    double* coupling = own + T;
    double* theta_bar = t.weights ? own : t.parameters_bar;
    for (Index i = 0; i < t.n; ++i) {
      for (Index l = 0; l < L; ++l) {
        m[l] = t.mean[l * t.stride + i];
        v[l] = t.variance[l * t.stride + i];
      }
      const Datum d{t.y[i], t.aux ? t.aux[i] : fallback, theta.data()};
      const double w = t.weights ? t.weights[i] : 1.0;
      t.value[i] = w * (pairs ? node.coupled_expectation(d, m, v, m_bar, v_bar, theta_bar, coupling)
                              : node.expectation(d, m, v, m_bar, v_bar, theta_bar));
      for (Index c = 0; c < pairs; ++c) t.coupling[c * t.stride + i] = w * coupling[c];
      for (Index l = 0; l < L; ++l) {
        t.mean_bar[l * t.stride + i] = w * m_bar[l];
        t.variance_bar[l * t.stride + i] = w * v_bar[l];
      }
      if (!t.weights) continue;
      for (Index p = 0; p < T; ++p) t.parameters_bar[p] += w * std::exchange(own[p], 0.0);
    }
  };
  return out;
}

std::vector<Cholesky> factor_parts(const UncollapsedProblem& p, const UncollapsedValues& v,
                                   Jitter& jitter) {
  if (p.parts.empty() || v.theta.size() != p.parts.size() || v.z.size() != p.parts.size())
    throw InputError(fmt::format("{} kernels with values for {} of them and {} of their features",
                                 p.parts.size(), v.theta.size(), v.z.size()));
  std::vector<Cholesky> out;
  for (std::size_t i = 0; i < p.parts.size(); ++i)
    out.push_back(factor_Kuu(*p.parts[i].features, v.theta[i], v.z[i], jitter, p.guard_eigenvalue));
  return out;
}

UncollapsedEvaluation evaluate_uncollapsed(const UncollapsedProblem& p, const UncollapsedValues& v,
                                           Jitter& jitter, UncollapsedGradient* gradient) {
  return evaluate_uncollapsed(p, v, factor_parts(p, v, jitter), gradient);
}

UncollapsedEvaluation evaluate_uncollapsed(const UncollapsedProblem& p, const UncollapsedValues& v,
                                           std::vector<Cholesky> factors,
                                           UncollapsedGradient* gradient) {
  if (!(p.scale > 0.0))
    throw InputError(fmt::format("the scale of a minibatch must be positive, got {}", p.scale));
  UncollapsedEvaluation out;
  std::vector<SweepContext> contexts;
  for (std::size_t i = 0; i < p.parts.size(); ++i) {
    const auto& part = p.parts[i];
    if (v.q.is_thin() && !part.features->is_white())
      throw InputError(
          fmt::format("{} features are not white: the gradient through Kuu needs all of a "
                      "covariance of q, and its diagonal was given",
                      part.features->name()));
    contexts.push_back({part.features, &part.kernel->node(), v.theta[i].data(), v.z[i].data(), 0.0,
                        p.mean, i == 0 ? v.mean_weights : Matrix(), std::move(factors[i].L)});
    out.jitter = std::max(out.jitter, factors[i].jitter);
  }
  const RowAdjoints adjoints = !gradient                 ? RowAdjoints::none
                               : gradient->of_parameters ? RowAdjoints::all
                               : gradient->coupled       ? RowAdjoints::coupled
                                                         : RowAdjoints::q;
  RowTermSums sums = row_terms(contexts, p.likelihood, v.q, *p.sweep, adjoints,
                               gradient && gradient->of_inputs ? &gradient->inputs : nullptr);
  out.fit = p.scale * sums.value;
  if (gradient) {
    gradient->g = p.scale * sums.A_m;
    gradient->H = std::move(sums.A_vA);
    gradient->C = std::move(sums.A_cA);
    for (Matrix& H : gradient->H) H *= p.scale;
    for (Matrix& C : gradient->C) C *= p.scale;
    if (gradient->of_factors) {
      gradient->m_bar = gradient->g;
      gradient->Ls_bar.clear();
      for (std::size_t f = 0; f < v.q.Ls.size(); ++f) {
        if (v.q.is_thin()) {
          gradient->Ls_bar.emplace_back(2.0 * gradient->H[f].cwiseProduct(v.q.Ls[f]));
          continue;
        }
        Matrix Ls = v.q.Ls[f];
        Ls.triangularView<Eigen::StrictlyUpper>().setZero();
        Matrix bar(Ls.rows(), Ls.cols());
        gemm(2.0, gradient->H[f], Op::none, Ls, Op::none, 0.0, bar);
        bar.triangularView<Eigen::StrictlyUpper>().setZero();
        gradient->Ls_bar.push_back(std::move(bar));
      }
    }
  }
  out.kl = whitened_kl(v.q, gradient && gradient->of_factors ? gradient : nullptr);
  out.value = out.fit - out.kl;
  if (gradient && !gradient->of_parameters && gradient->beside) gradient->beside(out.value);
  if (gradient && gradient->of_parameters) {
    std::function<void()> beside;
    if (gradient->beside) beside = [&] { gradient->beside(out.value); };
    gradient->likelihood_bar = p.scale * sums.parameters_bar;
    gradient->mixing_bar = p.scale * sums.mixing_bar;
    gradient->mean_bar = p.scale * sums.mean_bar;
    gradient->theta_bar = std::move(sums.theta_bar);
    gradient->z_bar = std::move(sums.z_bar);
    const Index F = v.q.m.cols(), shares = p.parts.size() == 1 ? F : 1;
    for (std::size_t i = 0; i < p.parts.size(); ++i) {
      gradient->theta_bar[i] *= p.scale;
      gradient->z_bar[i] *= p.scale;
      const Index first = static_cast<Index>(i);
      if (p.parts[i].features->is_white()) {
        if (i == 0 && beside) beside();
        continue;
      }
      p.parts[i].features->Kuu_pullback(
          v.theta[i].data(), v.z[i].data(),
          Kuu_adjoint(contexts[i].Luu, p.parts[i].features->blocks(),
                      {v.q, sums.S, *gradient, first, shares}, i == 0 ? beside : nullptr),
          gradient->theta_bar[i].data(), gradient->z_bar[i].data());
    }
  }
  for (SweepContext& c : contexts) out.Luu.push_back(std::move(c.Luu));
  return out;
}

}  // namespace covary
