#pragma once

#include "covary/inference/gaussian.hpp"
#include "covary/linalg/types.hpp"

namespace covary {

// Bayesian regression on fixed basis functions, the weight-space view: y = Φw + ε, w ~ N(0, σ_w²I),
// ε ~ N(0, σ²I). Its function-space twin is the GP with kernel σ_w²φ(x)ᵀφ(x'). Cost N·M² + M³.
class BasisRegression {
 public:
  // Phi: N×M basis values at the data. noise_variance = 0 conditions exactly (needs independent
  // rows).
  BasisRegression(ConstMatrix Phi, ConstVector y, double weight_variance, double noise_variance);

  const Gaussian& weights() const { return weights_; }  // the posterior of w
  // f at rows with basis values Phi: mean and covariance.
  Gaussian predict(ConstMatrix Phi) const;
  double log_evidence() const { return log_evidence_; }

 private:
  Gaussian weights_;
  double log_evidence_ = 0.0;
};

// φ_m(x) = height·exp(−½(x − c_m)²/width²): N×M.
Matrix bump_basis(ConstVector x, ConstVector centres, double width = 1.0, double height = 1.0);
// 1, x, …, x^degree: N×(degree + 1).
Matrix polynomial_basis(ConstVector x, int degree);

}  // namespace covary
