#pragma once

#include "covary/linalg/types.hpp"

namespace covary {

// Gaussian windows with waves: N(x; μ, diag s)·cos(phase + ωᵀ(x − μ)), one a row.
struct Windows {
  Matrix mu, s, omega;  // M×D
  Vector phase;         // M

  static Windows zero(Index M, Index D) {
    const Matrix none = Matrix::Zero(M, D);
    return {none, none, none, Vector::Zero(M)};
  }
  Windows& operator+=(const Windows& o) {
    mu += o.mu;
    s += o.s;
    omega += o.omega;
    phase += o.phase;
    return *this;
  }
};

// Gradients by windows and by a term of the kernel, v·exp(−½ Σ w_d (x_d − z_d)²).
struct WindowBar {
  Windows u;
  double log_v = 0.0;
  Vector w;

  WindowBar(Index M, Index D) : u(Windows::zero(M, D)), w(Vector::Zero(D)) {}
  WindowBar& operator+=(const WindowBar& o) {
    u += o.u;
    log_v += o.log_v;
    w += o.w;
    return *this;
  }
};

// cov(u_i, u_j): ∬ window_i(x) window_j(x') k(x, x').
double window_pair(const Windows& u, Index i, Index j, double v, const Vector& w);
void window_pair_pullback(const Windows& u, Index i, Index j, double v, const Vector& w,
                          double K_bar, WindowBar& to);

}  // namespace covary
