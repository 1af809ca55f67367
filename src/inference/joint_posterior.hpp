#pragma once

#include "covary/inference/multi_function_model.hpp"
#include "inference/softmax_factor.hpp"

namespace covary {

// What a posterior says of L latent functions together at n rows.
struct JointMarginals {
  Matrix mean;        // n×L
  Matrix covariance;  // n×L², row by row of an L×L matrix

  FunctionMarginals each() const;  // the diagonals, never negative
};

// The Gaussian approximation of p(f | y) for softmax, in which the data correlate the functions of
// the classes: at the N observed rows the mean is m_c + K_c·alpha_c and the covariance (K⁻¹ + W)⁻¹.
struct JointPosterior {
  std::vector<Kernel> kernels = {"se"};  // as in MultiFunctionModel
  Mean mean;
  MultiFunctionParameters parameters;
  RowMatrix X;           // the observed rows
  Matrix alpha;          // N×C
  Matrix pi;             // N×C, the probabilities that make W, times the rows' weights
  SoftmaxFactor factor;  // of K and W

  // In blocks: memory does not grow with the rows beyond the result.
  JointMarginals predict(ConstRows X_new) const;
};

}  // namespace covary
