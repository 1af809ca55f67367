#include "covary/inference/uncollapsed.hpp"

#include <fmt/format.h>

#include <cmath>

#include "covary/error.hpp"
#include "covary/linalg/blas.hpp"

namespace covary {
namespace {

// With S = Σ ā_n a_nᵀ, which is not symmetric away from the best q, ∂F/∂Kuu is the symmetric part
// of −L⁻ᵀΦ(S)L⁻¹, where Φ takes the lower triangle with half the diagonal.
Matrix Kuu_adjoint(const Matrix& L, Matrix S) {
  S.triangularView<Eigen::StrictlyUpper>().setZero();
  S.diagonal() *= 0.5;
  solve_lower(L, S, Op::transpose);
  solve_lower_right(L, S, Op::none, -0.5);
  return S + S.transpose();
}

}  // namespace

double whitened_kl(const WhitenedGaussian& q, UncollapsedGradient* gradient) {
  double kl = 0.5 * q.m.squaredNorm();
  if (gradient) gradient->m_bar -= q.m;
  for (std::size_t p = 0; p < q.Ls.size(); ++p) {
    const Matrix& L = q.Ls[p];
    for (Index j = 0; j < L.cols(); ++j) {
      const double pivot = L(j, j);
      if (!(std::abs(pivot) > 0.0))
        throw InputError(fmt::format(
            "the factor of q's covariance has {} at place {} of its diagonal; it must not be zero",
            pivot, j));
      kl += 0.5 * L.col(j).tail(L.rows() - j).squaredNorm() - 0.5 - std::log(std::abs(pivot));
      if (!gradient) continue;
      Matrix& bar = gradient->Ls_bar[p];
      bar.col(j).tail(L.rows() - j) -= L.col(j).tail(L.rows() - j);
      bar(j, j) += 1.0 / pivot;
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

UncollapsedEvaluation evaluate_uncollapsed(const UncollapsedProblem& p, const UncollapsedValues& v,
                                           Jitter& jitter, UncollapsedGradient* gradient) {
  if (!(p.scale > 0.0))
    throw InputError(fmt::format("the scale of a minibatch must be positive, got {}", p.scale));
  UncollapsedEvaluation out;
  Cholesky factor = factor_Kuu(*p.features, v.theta, v.z, jitter, p.guard_eigenvalue);
  out.jitter = factor.jitter;
  SweepContext c{p.features, &p.kernel->node(), v.theta.data(),     v.z.data(), 0.0,
                 p.mean,     v.mean_weights,    std::move(factor.L)};
  RowTermSums sums =
      row_terms(c, p.expectation, p.likelihood_parameters, v.q, *p.sweep, gradient != nullptr);
  out.fit = p.scale * sums.value;
  if (gradient) {
    gradient->theta_bar = p.scale * sums.theta_bar;
    gradient->z_bar = p.scale * sums.z_bar;
    gradient->likelihood_bar = p.scale * sums.parameters_bar;
    gradient->mean_bar = p.scale * sums.mean_bar;
    gradient->m_bar = p.scale * sums.A_m;
    gradient->Ls_bar.clear();
    // ā_n = m·m̄_n + 2v̄_n(Ls·Lsᵀ − I)a_n
    Matrix S = product(v.q.m, gradient->m_bar, Op::none, Op::transpose);
    for (std::size_t i = 0; i < v.q.Ls.size(); ++i) {
      const Matrix G = 2.0 * p.scale * sums.A_vA[i];
      Matrix Ls = v.q.Ls[i];
      Ls.triangularView<Eigen::StrictlyUpper>().setZero();
      Matrix bar = product(G, Ls);
      bar.triangularView<Eigen::StrictlyUpper>().setZero();
      gradient->Ls_bar.push_back(std::move(bar));
      Matrix LLG = G;
      multiply_lower(Ls, LLG, Op::transpose);
      multiply_lower(Ls, LLG);
      S += LLG - G;
    }
    p.features->Kuu_pullback(v.theta.data(), v.z.data(), Kuu_adjoint(c.Luu, std::move(S)),
                             gradient->theta_bar.data(), gradient->z_bar.data());
  }
  out.kl = whitened_kl(v.q, gradient);
  out.value = out.fit - out.kl;
  out.Luu = std::move(c.Luu);
  return out;
}

}  // namespace covary
