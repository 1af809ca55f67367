#pragma once

#include "covary/inference/function_model.hpp"

namespace covary {

struct LaplaceOptions {
  int max_iterations = 500;
  double tolerance = 1e-12;  // of alpha = ∇ log p(y | f), relative to its largest entry or 1
};

// The posterior of f as a Gaussian at its mode f̂ with the curvature there, Λ = W = −∇∇ log p(y |
// f̂):
//
//   log q(y) = log p(y | f̂) − ½(f̂ − m)ᵀK⁻¹(f̂ − m) − ½ log|I + KW|
//
// (Williams & Barber 1998; Rasmussen & Williams 3.4.) The gradient goes through the mode. N³
// flops for a factor of Newton's method, which is kept while its steps do well. Throws
// NumericalError where no mode is reached.
FunctionApproximation laplace_approximation(const FunctionModel& model,
                                            const FunctionParameters& parameters,
                                            FunctionParameters* gradient = nullptr,
                                            const LaplaceOptions& options = {});

}  // namespace covary
