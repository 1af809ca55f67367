#pragma once

#include "covary/inference/laplace.hpp"
#include "inference/joint_posterior.hpp"

namespace covary {

struct JointApproximation {
  double value = 0.0;        // the approximate log evidence
  JointMarginals marginals;  // of f at the observed rows
  JointPosterior posterior;
  int iterations = 0;
};

// laplace_approximation() for softmax (Williams & Barber 1998; Rasmussen & Williams 3.5): the
// posterior of all classes' functions as one Gaussian at its mode. The density is log-concave, so
// there is one mode; the gradient goes through it. C·N³ flops an iteration for C classes. Throws
// Unsupported for other likelihoods, NumericalError where no mode is reached.
JointApproximation laplace_approximation(const MultiFunctionModel& model,
                                         const MultiFunctionParameters& parameters,
                                         MultiFunctionParameters* gradient = nullptr,
                                         const LaplaceOptions& options = {});

}  // namespace covary
