#pragma once

// Models to beat: a Gaussian process that does no better than these is not worth its cost.
#include "covary/models/logistic_regression.hpp"
#include "covary/models/nearest_neighbours.hpp"

namespace covary {

// The mean and the variance (divisor N) of the targets, for every row. NaN does not count.
class MeanPredictor {
 public:
  explicit MeanPredictor(ConstVector y);
  MeanVariance predict(Index rows) const;

 private:
  double mean_, variance_;
};

// The shares of the classes, for every row, so that the commonest is decided:
// (rows of the class + 1/K)/(rows + 1). NaN does not count.
class MajorityPredictor {
 public:
  MajorityPredictor(ConstVector labels, Index classes);
  RowMatrix predict(Index rows) const;

 private:
  Vector shares_;
};

}  // namespace covary
