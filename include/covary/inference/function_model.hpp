#pragma once

#include "covary/inference/posterior.hpp"
#include "covary/inference/site_factor.hpp"
#include "covary/kernels/kernel.hpp"
#include "covary/kernels/mean.hpp"
#include "covary/likelihoods/likelihood.hpp"

namespace covary {

// y_n ~ p(y | f(x_n)), f ~ GP(m, k), for any likelihood of one latent function a datum.
struct FunctionModel {
  Kernel kernel = "se";
  Likelihood likelihood = "gaussian";
  Mean mean;
  RowMatrix X;      // N×D
  Vector y;         // N, NaN where missing: such rows are left out
  Vector aux = {};  // N (exposure, trials or noise), or empty for the likelihood's default
  // N, what log p of each row is multiplied by: 2 is a row given twice, 0 one that is not there.
  // Empty: ones. Not for EP.
  Vector weights = {};
};

// Values of the parameters, or the derivatives by them.
struct FunctionParameters {
  Vector kernel, likelihood, mean_weights;
};

// The Gaussian approximation of p(f | y) that every method ends with: at the N observed rows the
// mean is m + K·alpha and the covariance (K⁻¹ + Λ)⁻¹.
struct FunctionPosterior {
  Kernel kernel = "se";
  Mean mean;
  FunctionParameters parameters;
  RowMatrix X;        // the observed rows
  Vector alpha;       // N
  Vector lambda;      // N, the diagonal of Λ
  SiteFactor factor;  // of K and Λ

  // m(x) + k(x, X)·alpha and k(x, x) − k(x, X)(K + Λ⁻¹)⁻¹k(X, x), white noise in k(x, x) alone.
  FunctionMarginals predict(ConstRows X_new) const;
};

struct FunctionApproximation {
  double value = 0.0;     // the approximate log evidence, or its lower bound
  Vector mean, variance;  // of f at the observed rows
  FunctionPosterior posterior;
  int iterations = 0;
};

}  // namespace covary
