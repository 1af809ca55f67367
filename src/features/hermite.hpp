#pragma once

#include "covary/linalg/types.hpp"

namespace covary {

// ψ_0 … ψ_degree of k = exp(−½w(x − x′)²) under N(mean, sd²) at the points x: Σ_m ψ_m(x)ψ_m(x′) is
// k, Σ_m ψ_m² is at most 1, so that nothing can grow. Without columns' weight (w = 0) ψ_0 is 1.
struct Hermite {
  double w, mean, sd, q, B, c;  // q = √(1 + 4·sd²·w), B = (q − 1)/(q + 1), c = q/(4·sd²)

  Hermite(double w_, double mean_, double sd_);
  Matrix values(const Vector& x, Index degree) const;  // x.size() × (degree + 1)
  // Adds ∂/∂w, ∂/∂mean, ∂/∂sd and, where not null, ∂/∂x (n) for ∂/∂values.
  struct Bar {
    double w = 0.0, mean = 0.0, sd = 0.0;
  };
  void pullback(const Vector& x, const Matrix& values, const Matrix& bar, Bar& to,
                Vector* x_bar) const;
};

}  // namespace covary
