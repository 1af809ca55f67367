#pragma once

#include "covary/linalg/types.hpp"

namespace covary {

// A = V·diag(values)·Vᵀ with rising values and orthonormal columns of V, whose signs are LAPACK's.
struct SymmetricEigen {
  Vector values;
  Matrix vectors;
};

// Of a symmetric A (lower triangle read), in O(n³) on one thread. InputError when it is not square
// or not finite, NumericalError when the iteration fails.
SymmetricEigen symmetric_eigen(Matrix A);

}  // namespace covary
