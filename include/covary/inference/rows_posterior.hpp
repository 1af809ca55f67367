#pragma once

#include <functional>
#include <vector>

#include "covary/inference/posterior.hpp"

namespace covary {

// Functions seen through rows X: their mean is m + k(x, X)·alpha and their variance
// k(x, x) − k(x, X)·R·k(X, x). It refers to the posterior.
struct RowFunctions {
  std::vector<Index> columns;  // which functions
  const Kernel& kernel;
  const Vector& theta;
  const RowMatrix& X;
  Eigen::Map<const Matrix> alpha;              // N×columns
  std::function<Vector(Matrix k)> reduction;   // kᵀRk of each column of k, N×n
  std::function<Matrix(ConstMatrix k)> apply;  // R·k
};

// What all posteriors through rows do alike: a row is a Gaussian site, whatever made it.
class RowsPosterior : public PosteriorNode {
 public:
  std::vector<ComponentPrediction> components(ConstRows X) const override;
  PredictionGradient gradient(ConstRows X, Index function = 0) const override;

 protected:
  virtual std::vector<RowFunctions> by_rows() const = 0;
  virtual Vector mean_weights(Index function) const = 0;  // where the mean is not zero
  void check_inputs(ConstRows X) const;
  void check_function(Index function) const;
};

}  // namespace covary
