#pragma once

#include <vector>

#include "covary/data/scaling.hpp"
#include "covary/linalg/types.hpp"

namespace covary {

struct NeighbourOptions {
  Index k = 5;
  ScaleMode scale = ScaleMode::columns;  // of the inputs, before distances are taken

  void check() const;
};

// The k rows nearest to others by Euclidean distance, of equals those that come first. Every
// distance is computed: O(D) for each pair of rows, in parallel.
class NearestRows {
 public:
  NearestRows(ConstRows X, const NeighbourOptions& options);

  Index rows() const { return X_.rows(); }
  Index inputs() const { return X_.cols(); }
  Index k() const { return k_; }
  // n×k row numbers, the nearest first. InputError for other columns and for values not finite.
  Eigen::Matrix<Index, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor> find(ConstRows Xnew) const;

 private:
  Scaling scaling_;
  RowMatrix X_;  // scaled
  Index k_;
};

// p(class c) = (neighbours of class c + 1/K)/(k + 1): one more neighbour, divided among the
// classes, so that no label is given probability 0.
class NeighbourClassifier {
 public:
  // Labels are 0 … classes − 1; rows where one is NaN are left out.
  NeighbourClassifier(ConstRows X, ConstVector labels, Index classes,
                      const NeighbourOptions& options = {});
  RowMatrix predict(ConstRows Xnew) const;  // n×K probabilities

 private:
  std::vector<Index> label_;
  Index classes_;
  NearestRows nearest_;
};

// A Gaussian for each row.
struct MeanVariance {
  Vector mean, variance;
};

// The mean ȳ of the neighbours. The variance of a new value about it is (1 + 1/k)(Σ(y − ȳ)² +
// s²)/k, with s² that of all targets: one more value joins the k − 1 that the neighbours give, so
// that it is 0 only when all targets are equal.
class NeighbourRegressor {
 public:
  // Rows where the target is NaN are left out.
  NeighbourRegressor(ConstRows X, ConstVector y, const NeighbourOptions& options = {});
  MeanVariance predict(ConstRows Xnew) const;

 private:
  Vector y_;
  double variance_;  // s²
  NearestRows nearest_;
};

}  // namespace covary
