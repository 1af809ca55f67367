#pragma once

#include "covary/linalg/types.hpp"

namespace covary {

// Principal components: the orthonormal directions along which the rows of a table vary most, in
// falling order. Signs are fixed, so that the same table gives the same components everywhere: of
// each the entry largest in size is positive, the first of those that are equal to 1e-8.
struct Pca {
  Vector mean;            // D
  Matrix components;      // D×Q
  Vector variances;       // Q, of the rows along each (divisor N)
  double total_variance;  // of all D columns

  // Q components, or with 0 as many as there are. They cost O(N·D·min(N, D) + min(N, D)³). Where
  // weights are given (N), a row counts as often as its own says.
  // InputError for values not finite, and when the rows vary along fewer than Q directions.
  static Pca fit(ConstRows X, Index Q = 0, ConstVector weights = Vector());

  Index inputs() const { return mean.size(); }
  Index size() const { return variances.size(); }
  Vector explained() const;                   // the share of the variance of each component
  Index size_explaining(double share) const;  // how many of them explain at least this share
  Pca first(Index Q) const;                   // the same with fewer components

  RowMatrix transform(ConstRows X) const;  // n×Q coordinates, uncorrelated over the rows of the fit
  RowMatrix inverse(ConstRows scores) const;  // n×D: the points of the table with these coordinates
};

}  // namespace covary
