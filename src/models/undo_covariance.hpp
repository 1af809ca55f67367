#pragma once

#include "covary/data/scaling.hpp"

namespace covary {

// The covariance of outputs in the units of the data; symmetric to the last bit, as C is.
inline Matrix undo_covariance(const Scaling& outputs, Matrix C) {
  for (Index j = 0; j < C.cols(); ++j)
    for (Index i = 0; i < C.rows(); ++i) C(i, j) *= outputs.scale(i) * outputs.scale(j);
  return C;
}

}  // namespace covary
