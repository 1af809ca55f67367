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

}  // namespace covary
