#pragma once

#include <vector>

#include "covary/likelihoods/likelihood.hpp"

namespace covary {

// The distribution of y at one row, f ~ N(mean, variance), as a table: probabilities and quantiles,
// where densities and moments do not say enough. Of likelihoods without classes. The density is
// integrated over some 400 values that cover it: probabilities are good to 5e-4, and counts below
// 400 are summed one by one.
class PredictiveTable {
 public:
  // mean, variance: of each latent function. aux: the row's exposure, trials or noise variance.
  PredictiveTable(const Likelihood& likelihood, ConstVector theta, ConstVector mean,
                  ConstVector variance, double aux);

  bool whole_numbers() const { return whole_; }  // y counts something
  double at_most(double y) const;                // P(Y ≤ y)
  double below(double y) const;                  // P(Y < y)
  double quantile(double p) const;               // the least y with P(Y ≤ y) ≥ p; 0 < p < 1
  double shortfall(double a) const;              // E max(a − Y, 0) = ∫ P(Y ≤ y) dy up to a

 private:
  struct Node {
    double y = 0.0;
    double at_most = 0.0;
  };
  std::vector<Node> nodes_;
  bool whole_ = false;
};

}  // namespace covary
