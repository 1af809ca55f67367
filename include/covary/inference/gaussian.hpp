#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "covary/linalg/types.hpp"

namespace covary {

// A multivariate normal, the engine under every model here.
struct Gaussian {
  Vector mean;
  Matrix covariance;

  Index size() const { return mean.size(); }
};

// The variables with these numbers, in this order.
Gaussian marginal(const Gaussian& g, const std::vector<Index>& variables);
// The variables that remain, in order, when those with the given numbers are fixed:
// N(μ₁ + S₁₂S₂₂⁻¹(y₂ − μ₂), S₁₁ − S₁₂S₂₂⁻¹S₂₁).
Gaussian condition(const Gaussian& g, const std::vector<Index>& variables, ConstVector values);
// Draws, one a column.
Matrix sample(const Gaussian& g, Index draws, std::uint64_t seed);
double log_density(const Gaussian& g, ConstVector x);
// Pairs (i, j), i < j, with a non-zero precision: the edges of the minimal pairwise factor graph.
// Entries below `tolerance` relative to √(P_ii P_jj) count as zero.
std::vector<std::pair<Index, Index>> factor_graph_edges(const Gaussian& g,
                                                        double tolerance = 1e-10);

// exp(log evidence + log prior), normalised; equal priors unless given.
Vector model_posterior(ConstVector log_evidence, ConstVector prior = Vector());

}  // namespace covary
