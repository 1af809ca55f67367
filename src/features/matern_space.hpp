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
  // ⟨g, h⟩ has beside its spectral part p + 1 products of what g and h are at the ends. Of a
  // harmonic of frequency ω the j-th is value(ω/λ)/√v, of cosines or of sines alone.
  struct End {
    bool of_sines;
    double value, slope;  // slope: x·d/dx
  };
  End end(int j, double x) const;
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
