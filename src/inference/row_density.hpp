#pragma once

#include <vector>

#include "covary/inference/sparse_posterior.hpp"

namespace covary {

// How much the collapsed bound of a posterior over Gaussian inputs rises when one further row, with
// x ~ N(mean, diag(variance)) and outputs y, joins those it was trained on: F(q(X), q(x*)) −
// F(q(X)) but for the divergence of q(x*) from its prior. With that it is the estimate of log p(y*
// | Y) of Damianou (2015), equation 3.33: no bound, as it is the ratio of two. q(u) is not held, so
// it is never below what UncertainInputs::RowTerm says of the same q(x*). Thread-safe.
class RowDensity {
 public:
  // The features must be inducing points and the mean function zero. The posterior must outlive it.
  explicit RowDensity(const SparsePosterior& posterior);

  // Outputs that are NaN are not observed. O(M³ + M²·P).
  double operator()(const double* mean, const double* variance, const double* y) const;

 private:
  const SparsePosterior& posterior_;
  std::vector<Matrix> beta_;  // of each group of outputs: LB·c
};

}  // namespace covary
