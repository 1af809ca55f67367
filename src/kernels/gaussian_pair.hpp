#pragma once

#include "covary/kernels/expectations.hpp"

namespace covary {

// A term of a GaussianForm at given parameters, and what to add its gradient to.
struct TermValues {
  TermValues(const GaussianTerm& term, const double* theta);
  double variance;
  Vector w, c;  // c is empty unless the term is linear

  bool is_linear() const { return c.size() > 0; }
};
double white_variance(const WhiteTerm& term, const double* theta);
struct TermBars {
  explicit TermBars(const TermValues& at);
  double log_variance = 0.0;
  Vector w, c;

  void add_to(const GaussianTerm& term, const double* theta, double* theta_bar) const;
};

// ⟨s(z_k, x)⟩ for a row, for all k: `out` has M entries.
void term_psi1(const TermValues& s, const RowBlock& Z, const GaussianBlock& x, Index i,
               double* out);
void term_psi1_pullback(const TermValues& s, const RowBlock& Z, const GaussianBlock& x, Index i,
                        const double* values, const double* bar, TermBars& s_bar,
                        const GaussianBars& to);

// Σ_kj bar_kj ⟨s(z_k, x)·t(z_j, x)⟩ of a row is what pairs are for: `pair_psi2` adds
// ⟨s(z_k)t(z_j)⟩ + ⟨s(z_j)t(z_k)⟩ (once if s and t are one term) to the lower triangle of `sum`.
// With e = μ − z_k, e' = μ − z_j, r = we + w'e', C = 1 + (w + w')S, the input tilted by both is
// N(m̃, S̃), m̃ = μ − Sr/C, S̃ = S/C, and with linear forms a = c∘z_k, b = c'∘z_j
//   ⟨s t⟩ = σ²σ'² Π C^−½ exp(−½(we² + w'e'²) + ½Sr²/C) · {1, aᵀm̃, bᵀm̃, aᵀm̃·bᵀm̃ + Σ abS̃}.
void pair_psi2(const TermValues& s, const TermValues& t, bool same, const RowBlock& Z,
               const GaussianBlock& x, Index i, MatrixOut sum);
void pair_psi2_pullback(const TermValues& s, const TermValues& t, bool same, const RowBlock& Z,
                        const GaussianBlock& x, Index i, ConstMatrix bar, TermBars& s_bar,
                        TermBars& t_bar, const GaussianBars& to);

}  // namespace covary
