#include "inference/gaussian_rows.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "covary/error.hpp"
#include "covary/linalg/blas.hpp"
#include "inference/collapsed.hpp"

namespace covary {
namespace {

constexpr double largest_rho = 1e-4, first_rung = 1e-12, last_rung = 1e-4;

// Kuu + jitter with ρ = u·tr(ψ2)/(σ²λmin) ≤ 1e-4. Where rounding allows it there is none. Once some
// has been needed (the rung says so, and stays for an optimisation) it is ridge =
// u·tr(ψ2)/(σ²·1e-4), whatever λmin is: a smooth function of the parameters, whose gradient is the
// bound's own, so that an optimiser does not run against a step of a ladder.
Cholesky factor_for(const SparseProblem& p, const SparseValues& v, double trace_psi2,
                    Jitter& jitter, SparseTerms& terms, bool& moves) {
  moves = false;
  // The smallest eigenvalue is an estimate from below; what was added is known.
  const auto factor = [&](Jitter& with, double added) {
    Cholesky out =
        factor_Kuu(*p.features, v.theta, v.z, with, p.guard_eigenvalue, &terms.smallest_eigenvalue);
    terms.smallest_eigenvalue = std::max(terms.smallest_eigenvalue, added);
    terms.rho = unit_rounding * trace_psi2 / (v.noise * terms.smallest_eigenvalue);
    return out;
  };
  if (jitter.rung == 0.0) {
    Cholesky bare = factor(jitter, 0.0);
    if (jitter.rung == 0.0 && terms.rho <= largest_rho) return bare;
    jitter.raised = true;
  }
  jitter.rung = std::max(jitter.rung, first_rung);
  const double ridge = unit_rounding * trace_psi2 / (v.noise * largest_rho),
               most = last_rung * p.features->Kuu(v.theta.data(), v.z.data()).diagonal().mean();
  moves = ridge < most;
  Jitter with = jitter;
  const double added = std::min(ridge, most);
  with.asked += added;
  Cholesky out = factor(with, added);
  jitter.rung = with.rung;
  jitter.raised = with.raised;
  return out;
}

// ridge = c·tr(wψ2), w = 1/σ², is a function of what the bound is one of: with κ = ∂F/∂ridge =
// tr(∂F/∂Kuu) its share in ∂F/∂(wψ2) is κc·I, which is ½L⁻ᵀQL⁻¹ of Q = 2κc·LᵀL.
void add_ridge_gradient(const Matrix& Luu, const Matrix& S, Matrix& Q) {
  Matrix half = S;
  solve_lower(Luu, half, Op::transpose);
  solve_lower_right(Luu, half, Op::none, -0.5);
  const double pull = 2.0 * half.trace() * unit_rounding / largest_rho;
  syrk(pull, Luu, Op::transpose, 1.0, Q);
  mirror_lower(Q);
}

}  // namespace

SparseEvaluation evaluate_gaussian_rows(const SparseProblem& p, const SparseValues& v,
                                        Jitter& jitter, SweepGradient* gradient,
                                        GaussianRowGradient* rows, KeptPsi2* kept) {
  if (!(v.noise > 0.0))
    throw InputError(fmt::format("the noise variance must be positive, got {}", v.noise));
  if (p.approximation.kind != Approximation::Kind::vfe)
    throw Unsupported(fmt::format("Gaussian inputs are not available with '{}'; use vfe",
                                  p.approximation.print()));
  SweepContext c{p.features, &p.kernel->node(), v.theta.data(), v.z.data(), v.noise,
                 p.mean,     v.mean_weights,    Matrix()};
  KeptPsi2 own;
  if (!kept) kept = &own;
  auto psi = psi_statistics(c, *p.sweep, p.columns, gradient ? kept : nullptr);
  psi.front().silent = p.silent;
  std::size_t largest = 0;  // of the groups, by the trace
  for (std::size_t g = 1; g < psi.size(); ++g)
    if (psi[g].psi2.trace() > psi[largest].psi2.trace()) largest = g;

  SparseEvaluation out;
  bool moves = false;  // the ridge, with the parameters
  Cholesky factor = factor_for(p, v, psi[largest].psi2.trace(), jitter, out.terms, moves);
  out.jitter = factor.jitter;
  out.terms.route = Route::fast;
  c.Luu = std::move(factor.L);
  std::vector<WeightedStatistics> statistics;
  statistics.reserve(psi.size());
  for (const auto& s : psi) statistics.push_back(whitened(s, c.Luu, v.noise));
  std::vector<WeightedAdjoint> adjoints;
  Matrix S =
      collapsed_bounds(statistics, RowRule::Term::trace, out, gradient ? &adjoints : nullptr);
  if (gradient) {
    GaussianRowGradient unasked;
    start_gradient(v, *gradient);
    if (moves) add_ridge_gradient(c.Luu, S, adjoints[largest].Q);
    psi_adjoint(c, *p.sweep, psi, adjoints, *gradient, rows ? *rows : unasked, kept);
    add_Kuu_gradient(*p.features, v, c.Luu, S, *gradient);
  }
  out.Luu = std::move(c.Luu);
  return out;
}

}  // namespace covary
