#pragma once

#include "covary/linalg/types.hpp"

namespace covary {

// Places x = first + j·stride·gumbel_step, j < count.
struct GumbelGrid {
  double first = 0.0;
  Index stride = 1, count = 0;
  double step() const;
};

// exp(−exp(−x)) is bounded for |Im x| < π/2, so sums over a lattice of this step stand for
// integrals of it within exp(−π²/0.35) = 6e-13.
constexpr double gumbel_step = 0.35;
constexpr double gumbel_reach = 8.5;  // standard deviations; beyond them lies 2e-17 of a Gaussian

inline double GumbelGrid::step() const { return gumbel_step * static_cast<double>(stride); }

// The distribution function of f + g for f ~ N(m, sd²) and a standard Gumbel g, with its first two
// derivatives, at the places of a grid:
//   F(x) = E exp(−z), F′ = E z·exp(−z), F″ = E z(z − 1)exp(−z),   z = exp(f − x).
// The grid begins no lower than m − gumbel_reach·sd − 4: F is then above 1e-40 everywhere.
void gumbel_curve(double m, double sd, const GumbelGrid& grid, double* F, double* F1, double* F2);

// Σ q/F·F1 and Σ q/F·F2 over the n places.
struct GumbelShares {
  double first = 0.0, second = 0.0;
};
GumbelShares gumbel_shares(const double* q, const double* F, const double* F1, const double* F2,
                           Index n);

}  // namespace covary
