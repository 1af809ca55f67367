#pragma once

#include "covary/linalg/types.hpp"

namespace covary {

// The Hilbert space of a Matérn kernel of order p + ½, p = 0, 1, 2, over an interval, with
// λ = √(2p + 1)/ℓ: what harmonics need of it.
struct MaternSpace {
  int p;
  double v, lambda;

  // 1/S(ω), the inverse of the spectral density ∫ k(τ)e^{−iωτ}dτ.
  double inverse_density(double omega) const;
  // The weights of g(a)h(a), of g″(a)h(a) + g(a)h″(a), of g″(a)h″(a) and of g′(a)h′(a) in ⟨g, h⟩.
  struct Ends {
    double values = 0.0, mixed = 0.0, curves = 0.0, slopes = 0.0;
  };
  Ends ends() const;
  // Of E[f(x) | f on the interval] at a distance beyond its end: weights of f, f′ and f″ there, the
  // derivatives taken outwards.
  struct Beyond {
    double value = 0.0, slope = 0.0, curve = 0.0;
  };
  Beyond beyond(double distance) const;
  Beyond beyond_by_distance(double distance) const;  // d/d distance
  Beyond beyond_by_lambda(double distance) const;    // d/dλ
};

}  // namespace covary
