#pragma once

#include "covary/linalg/types.hpp"

namespace covary {

// Special functions, each accurate to a few units in the last place over its whole range (relative,
// unless the function passes through zero). Not-a-number in, not-a-number out.

double normal_pdf(double x);      // N(x; 0, 1)
double normal_log_pdf(double x);  // −½x² − ½log 2π
double normal_cdf(double x);      // Φ(x)
double normal_log_cdf(double x);  // log Φ(x), to x = −1e150 and beyond
// Φ⁻¹(p) for 0 ≤ p ≤ 1; ∓∞ at the ends, InputError outside.
double inverse_normal_cdf(double p);

double softplus(double x);  // log(1 + eˣ)
inline double log1pexp(double x) { return softplus(x); }
// log(eʸ − 1) for y ≥ 0; −∞ at 0, InputError below.
double inverse_softplus(double y);
double sigmoid(double x);  // 1/(1 + e⁻ˣ), the derivative of softplus

// log Σᵢ exp(xᵢ) without overflow; −∞ when x is empty.
double log_sum_exp(ConstVector x);

}  // namespace covary
