#pragma once

#include "covary/inference/sparse.hpp"
#include "inference/function_problem.hpp"
#include "inference/gaussian_sites.hpp"

namespace covary {

// The passes of sparse power-EP over the rows. Sites are of s_n = a_nᵀv, as in sparse_ep.hpp.
struct SparseSiteProblem {
  const FunctionModel& model;
  const FunctionParameters& parameters;
  double power;
  const Vector& y;
  const Vector& aux;
  Vector m;  // the mean function at the rows
  SweepContext context;
  const Sweep* sweep;

  Datum datum(Index n) const {
    return {y(n), aux.size() != 0 ? aux(n) : model.likelihood.node().default_aux(),
            parameters.likelihood.data()};
  }
};

// q(v) of some sites.
struct WhitenedState {
  Matrix LB;       // lower factor of B
  Vector b;        // B⁻¹c
  double phi = 0;  // ½cᵀB⁻¹c − ½log|B|
};
// False where q is not a density.
bool gather_sites(const SparseSiteProblem& problem, const GaussianSites& sites, WhitenedState& out);

// The sites that match moments, given q; a row without a proper cavity keeps its site.
struct SiteMatch {
  GaussianSites sites;
  double change = 0.0;  // how far they are, as SiteState::distance
  Index improper = 0;
  double value = 0.0;  // Σ (log Z_n + Φ(cavity) − Φ(q_n))/α, if all are proper
};
SiteMatch match_sites(const SparseSiteProblem& problem, const GaussianSites& sites,
                      const WhitenedState& q);

// Everything the gradient is made of, at sites that have settled.
struct SiteAdjoint {
  Vector theta_bar, z_bar, likelihood_bar, m_bar;
  Matrix residual;  // Σ d̄_n a_n a_nᵀ, lower triangle
};
SiteAdjoint sites_adjoint(const SparseSiteProblem& problem, const GaussianSites& sites,
                          const WhitenedState& q);

}  // namespace covary
