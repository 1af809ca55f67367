#include "covary/inference/sparse.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

#include "covary/error.hpp"
#include "inference/collapsed.hpp"

namespace covary {
namespace {

// Routes change at these; docs/decisions/sweep-routes.md has the measurements.
constexpr double fast_below = 1e-8, stable_above = 1e-2;

Route choose(const SparseProblem& p, const RowRule& rule, double rho) {
  if (!rule.proportional()) return Route::stable;
  const bool one_noise = !p.sweep->rows().has_noise();
  if (p.route == Route::fast && !one_noise)
    throw InputError("the fast route needs one noise variance for all rows; use the safe route");
  if (p.route != Route::automatic) return p.route;
  if (rho <= fast_below && one_noise) return Route::fast;
  return rho > stable_above ? Route::stable : Route::safe;
}

}  // namespace

// The parts of F, as collapsed_bound() states it: F = −complexity − fit + P·Σ e.
// ½P·(log|B| − Σ log w + N·log 2π)
double SparseFactors::complexity() const {
  return 0.5 * outputs() *
         (rows * std::log(2.0 * std::numbers::pi) + log_determinant_of_factor(LB) - log_w);
}

// ½(Σ w|r|² − |c|²)
double SparseFactors::fit() const { return 0.5 * rr - 0.5 * c.squaredNorm(); }

double SparseFactors::value() const { return -complexity() - fit() + outputs() * term; }

Cholesky factor_Kuu(const Features& features, const Vector& theta, const Vector& z, Jitter& jitter,
                    bool guard, double* smallest) {
  Cholesky out{Matrix::Identity(features.size(), features.size()), 0.0};
  if (smallest) *smallest = 1.0;
  if (features.is_white()) return out;
  const Matrix Kuu = features.Kuu(theta.data(), z.data());
  for (;;) {
    bool safe = true;
    double least = std::numeric_limits<double>::infinity();
    out.jitter = 0.0;
    for (const KuuBlock& b : features.blocks()) {
      if (b.white) {
        least = std::min(least, 1.0);
        continue;
      }
      const auto own = Kuu.block(b.first, b.first, b.size, b.size);
      const double mean = own.diagonal().mean();
      Cholesky factor = cholesky(own, jitter, "Kuu");
      // 1/‖A⁻¹‖₁ is at most the smallest eigenvalue, and at least 1/√M of it.
      const double norm = own.cwiseAbs().colwise().sum().maxCoeff() + factor.jitter,
                   lowest = norm / factor.condition_estimate(norm);
      least = std::min(least, lowest);
      safe = safe && lowest >= 1e-8 * mean;
      out.jitter = std::max(out.jitter, factor.jitter);
      if (b.size == features.size())
        out.L = std::move(factor.L);
      else
        out.L.block(b.first, b.first, b.size, b.size) = factor.L;
    }
    if (smallest) *smallest = least;
    if (!guard || safe || jitter.rung >= 1e-8) return out;
    jitter.rung = jitter.rung == 0.0 ? 1e-12 : 10.0 * jitter.rung;
    jitter.raised = true;
  }
}

SparseEvaluation evaluate_sparse(const SparseProblem& p, const SparseValues& v, Jitter& jitter,
                                 SweepGradient* gradient) {
  if (!(v.noise > 0.0))
    throw InputError(fmt::format("the noise variance must be positive, got {}", v.noise));
  if (p.approximation.kind == Approximation::Kind::pitc)
    throw InputError("PITC needs its groups of rows: evaluate_pitc() takes them");
  const RowRule rule = p.approximation.rule();
  SparseEvaluation out;
  Cholesky factor = factor_Kuu(*p.features, v.theta, v.z, jitter, p.guard_eigenvalue,
                               &out.terms.smallest_eigenvalue);
  out.jitter = factor.jitter;
  SweepContext c{p.features, &p.kernel->node(), v.theta.data(),     v.z.data(), v.noise,
                 p.mean,     v.mean_weights,    std::move(factor.L)};
  // ρ = 1.1e-16·tr ψ2/(σ²·λmin)
  out.terms.rho = rounding_ratio(c, *p.sweep, out.terms.smallest_eigenvalue);
  out.terms.route = choose(p, rule, out.terms.rho);

  // C, β and the sums of F by one sweep; then F; then its gradient by a second sweep.
  const auto statistics =
      weighted_statistics(c, rule, *p.sweep, p.columns,
                          out.terms.route == Route::fast ? Forward::psi2 : Forward::solve);
  std::vector<WeightedAdjoint> adjoints;
  Matrix S = collapsed_bounds(statistics, rule.term, out, gradient ? &adjoints : nullptr);
  if (gradient) {
    start_gradient(v, *gradient);
    weighted_adjoint(c, rule, *p.sweep, adjoints, out.terms.route == Route::stable, *gradient);
    if (gradient->residual.size()) S -= 2.0 * gradient->residual;
    add_Kuu_gradient(*p.features, v, c.Luu, S, *gradient);
  }
  out.Luu = std::move(c.Luu);
  return out;
}

}  // namespace covary
