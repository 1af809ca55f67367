#pragma once

#include "covary/inference/sparse.hpp"

namespace covary {

constexpr double unit_rounding = 1.1e-16;
// ρ = 1.1e-16·tr(ψ2)/(σ²·λmin(Kuu + jitter)), by which routes are chosen.
double rounding_ratio(const SweepContext& c, const Sweep& sweep, double smallest_eigenvalue);

// One group's share of a collapsed bound, which is one function of the statistics whatever made
// them: rows, groups of rows or Gaussian rows. With gradients, what the adjoint sweep needs, and S,
// so that ∂F/∂Kuu = −½L⁻ᵀSL⁻¹; where the rule's term is not the trace, S lacks −2 × the residual
// that the adjoint sweep gives.
struct CollapsedBound {
  SparseFactors factors;
  WeightedAdjoint adjoint;
  Matrix S;
};

// Adds the share to the value and the terms of `out`.
CollapsedBound collapsed_bound(const WeightedStatistics& s, RowRule::Term term, bool gradient,
                               SparseEvaluation& out);

// All of them: fills value, terms and factors of `out`; the sum of S is returned, empty without
// gradients.
Matrix collapsed_bounds(const std::vector<WeightedStatistics>& statistics, RowRule::Term term,
                        SparseEvaluation& out, std::vector<WeightedAdjoint>* adjoints);

// A gradient of zeros.
void start_gradient(const SparseValues& v, SweepGradient& gradient);
// Adds what goes through Kuu, for S as above and complete.
void add_Kuu_gradient(const Features& features, const SparseValues& v, const Matrix& Luu,
                      const Matrix& S, SweepGradient& gradient);

}  // namespace covary
