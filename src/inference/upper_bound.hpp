#pragma once

#include "covary/inference/upper_bound.hpp"

namespace covary {

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
