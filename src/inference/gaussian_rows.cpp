#include "covary/inference/gaussian_rows.hpp"

#include <fmt/format.h>

#include "covary/error.hpp"
#include "inference/collapsed.hpp"

namespace covary {
namespace {

constexpr double largest_rho = 1e-4, last_rung = 1e-4;

// Kuu + jitter with a jitter that keeps ρ small.
Cholesky factor_for(const SparseProblem& p, const SparseValues& v, double trace_psi2,
                    Jitter& jitter, SparseTerms& terms) {
  for (;;) {
    Cholesky factor = factor_Kuu(*p.features, v.theta, v.z, jitter, p.guard_eigenvalue,
                                 &terms.smallest_eigenvalue);
    terms.rho = unit_rounding * trace_psi2 / (v.noise * terms.smallest_eigenvalue);
    if (terms.rho <= largest_rho || jitter.rung >= 0.99 * last_rung) return factor;
    jitter.rung = jitter.rung == 0.0 ? 1e-12 : 10.0 * jitter.rung;
    jitter.raised = true;
  }
}

}  // namespace

SparseEvaluation evaluate_gaussian_rows(const SparseProblem& p, const SparseValues& v,
                                        Jitter& jitter, SweepGradient* gradient,
                                        GaussianRowGradient* rows) {
  if (!(v.noise > 0.0))
    throw InputError(fmt::format("the noise variance must be positive, got {}", v.noise));
  if (p.approximation.kind != Approximation::Kind::vfe)
    throw Unsupported(
        fmt::format("'{}' is not offered for Gaussian inputs; vfe is", p.approximation.print()));
  SweepContext c{p.features, &p.kernel->node(), v.theta.data(), v.z.data(), v.noise,
                 p.mean,     v.mean_weights,    Matrix()};
  // Memory that is warm for the next evaluation of a training.
  thread_local KeptPsi2 kept;
  auto psi = psi_statistics(c, *p.kernel, *p.sweep, p.columns, gradient ? &kept : nullptr);
  psi.front().silent = p.silent;
  double trace_psi2 = 0.0;
  for (const auto& s : psi) trace_psi2 = std::max(trace_psi2, s.psi2.trace());

  SparseEvaluation out;
  Cholesky factor = factor_for(p, v, trace_psi2, jitter, out.terms);
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
    psi_adjoint(c, *p.kernel, *p.sweep, psi, adjoints, *gradient, rows ? *rows : unasked, &kept);
    add_Kuu_gradient(*p.features, v, c.Luu, S, *gradient);
  }
  out.Luu = std::move(c.Luu);
  return out;
}

}  // namespace covary
