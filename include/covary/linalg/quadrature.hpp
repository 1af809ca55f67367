#pragma once

#include "covary/linalg/types.hpp"

namespace covary {

// Nodes in ascending order and their weights: ∫ f ≈ Σᵢ weightsᵢ·f(nodesᵢ), exact for polynomials of
// degree 2n − 1. Nodes and weights are symmetric about the middle to the last bit.
struct QuadratureRule {
  Vector nodes;
  Vector weights;
};

// ∫ f(x) N(x; 0, 1) dx, the probabilists' form: weights sum to one, and the expectation under
// N(m, s²) is Σᵢ weightsᵢ·f(m + s·nodesᵢ). 1 ≤ n ≤ 300 (beyond, the outer weights underflow).
QuadratureRule gauss_hermite(Index n);

// ∫ₐᵇ f(x) dx for finite a < b: weights sum to b − a. n ≥ 1.
QuadratureRule gauss_legendre(Index n, double a = -1.0, double b = 1.0);

}  // namespace covary
