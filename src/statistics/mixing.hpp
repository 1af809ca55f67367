#pragma once

#include "covary/linalg/types.hpp"

namespace covary {

// What q says of functions at some rows, and what a likelihood answers: a column for each.
struct FunctionValues {
  Matrix mean, variance;
  Matrix mean_bar, variance_bar;
  Matrix coupling;  // ∂²/∂mean_k∂mean_l, a column for each pair k < l, or none
};

// Arguments of a likelihood as mixtures g = W·f of independent functions: means by W, variances by
// its squares.
struct Mixing {
  const Matrix& W;  // arguments × F; empty: the identity

  bool is_identity() const { return W.size() == 0; }
  void forward(const FunctionValues& f, FunctionValues& g) const;
  // Sets the adjoints of f and adds to W_bar, unless it is null.
  void pullback(FunctionValues& f, const FunctionValues& g, double* W_bar) const;
  // Of all pairs of functions, from the curvatures 2·variance_bar of the arguments and the
  // couplings of those behind one datum, L of them.
  Matrix couplings(const FunctionValues& g, Index L, Index F) const;
};

}  // namespace covary
