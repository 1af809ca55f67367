#pragma once

#include "covary/inference/sparse.hpp"

namespace covary {

// Upper bounds on the log evidence of the exact model (Titsias 2014), for noise S = diag(s):
//
//   U(c) = −½N log 2π − ½ log|Qff + S| − ½ yᵀ(Qff + S + cI)⁻¹y,   c ≥ λmax(Kff − Qff).
//
// For Kff ≽ Qff gives log|Kff + S| ≥ log|Qff + S|, and Kff + S ≼ Qff + S + cI gives the quadratic
// term, whatever the noise of each row. Jitter on Kuu only shrinks Qff, so both hold with it.
// Outputs add up; those with another missing pattern have a c of their own. The approximation of
// the problem does not matter here. Memory does not grow with N.

// c = tr(Kff − Qff), in O(NM²). With the gradient, Z can be found by minimising the bound.
double trace_upper_bound(const SparseProblem& problem, const SparseValues& values, Jitter& jitter,
                         SweepGradient* gradient = nullptr);

// c = the largest row sum of |Kff − Qff|, in O(N²M): the smaller one where the residuals of a row
// are with few other rows.
double row_sum_upper_bound(const SparseProblem& problem, const SparseValues& values,
                           Jitter& jitter);
// Its operations, to be known before it is asked for.
double row_sum_flops(const SparseProblem& problem);

// The smaller of the two; the second one only when it needs at most max_flops.
double upper_bound(const SparseProblem& problem, const SparseValues& values, Jitter& jitter,
                   double max_flops = 1e11);

// What all upper bounds at some values share.
struct UpperBoundBase {
  SweepContext context;
  std::vector<WeightedStatistics> statistics;  // with the noise of the model
  std::vector<Matrix> LB;                      // factors of I + C, for each group of columns
  double log_determinants = 0.0;  // −½N log 2π − ½ log|Qff + S|, over all outputs
};
UpperBoundBase upper_bound_base(const SparseProblem& p, const SparseValues& v, Jitter& jitter);

// U(c) with the constants of the groups; b receives (I + C)⁻¹beta at the noise S + cI.
double upper_bound_at(const SparseProblem& p, const UpperBoundBase& base, const Vector& constants,
                      std::vector<Matrix>* b = nullptr);

// The pullback of U(tr(Kff − Qff)).
void trace_upper_bound_pullback(const SparseProblem& p, const SparseValues& v,
                                const UpperBoundBase& base, const Vector& constants,
                                const std::vector<Matrix>& b, SweepGradient& gradient);

}  // namespace covary
