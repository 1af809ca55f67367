#pragma once

#include "covary/inference/function_model.hpp"

namespace covary {

struct EpOptions {
  double power = 1.0;  // of power-EP; towards zero it becomes the variational approximation
  int max_iterations = 500;
  double tolerance = 1e-9;        // of the sites, in units of the marginals of q
  double damping = 1.0;           // how far the sites go at first; less where that does not settle
  bool guard_eigenvalue = false;  // of Kuu, through inducing inputs: as in SparseProblem
};

// Expectation propagation (Minka 2001) and power-EP: q(f) ∝ N(f; m, K)·Π t_n(f_n), each t_n^α a
// Gaussian that gives q the moments of p(y_n | f_n)^α times q without it. All sites are updated at
// once, damped; without damping they are extrapolated near the end. At the fixed point
//
//   log Z = Φ(q) − Φ(prior) + (1/α) Σ_n [log ∫ p(y_n | f)^α q_n\(f) df + Φ(q_n\) − Φ(q_n)],
//
// Φ the log normaliser in natural parameters, is stationary in the sites, which makes its gradient
// simple. N³ flops a sweep. Throws NumericalError where the sites do not settle.
FunctionApproximation expectation_propagation(const FunctionModel& model,
                                              const FunctionParameters& parameters,
                                              FunctionParameters* gradient = nullptr,
                                              const EpOptions& options = {});

}  // namespace covary
