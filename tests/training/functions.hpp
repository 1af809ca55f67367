#pragma once

#include <cmath>

#include "covary/training/objective.hpp"

namespace covary::testing {

// Σ 100(u_{i+1} − u_i²)² + (1 − u_i)²: a bent valley with its only deep minimum, 0, at ones.
inline std::optional<double> rosenbrock(const Vector& u, Vector* gradient) {
  double f = 0.0;
  if (gradient) gradient->setZero();
  for (Index i = 0; i + 1 < u.size(); ++i) {
    const double a = u[i + 1] - u[i] * u[i], b = 1.0 - u[i];
    f += 100.0 * a * a + b * b;
    if (gradient) {
      (*gradient)[i] += -400.0 * a * u[i] - 2.0 * b;
      (*gradient)[i + 1] += 200.0 * a;
    }
  }
  return f;
}

inline Vector rosenbrock_start(Index n) {
  Vector u(n);
  for (Index i = 0; i < n; ++i) u[i] = i % 2 == 0 ? -1.2 : 1.0;
  return u;
}

// ½ Σ h_i (u_i − c_i)² + offset with h_i spread evenly on a logarithmic scale from 1 to
// `condition`.
struct Quadratic {
  Vector centre, h;
  double offset = 0.0;

  Quadratic(Index n, double condition) : centre(n), h(n) {
    for (Index i = 0; i < n; ++i) {
      centre[i] = std::sin(1.0 + 2.0 * static_cast<double>(i));
      h[i] = n == 1 ? condition
                    : std::pow(condition, static_cast<double>(i) / static_cast<double>(n - 1));
    }
  }
  std::optional<double> operator()(const Vector& u, Vector* gradient) const {
    const Vector r = u - centre;
    if (gradient) *gradient = h.cwiseProduct(r);
    return 0.5 * h.cwiseProduct(r).dot(r) + offset;
  }
};

}  // namespace covary::testing
