#pragma once

#include <string>

#include "covary/linalg/types.hpp"
#include "covary/parameters/parameters.hpp"

namespace covary {

// A mean function m(x) = h(x)ᵀw, linear in its weights: an immutable value like a kernel. For P
// outputs there are P columns of weights.
class Mean {
 public:
  Mean() = default;  // zero
  // "zero", "constant", "linear" (with intercept) or "poly(k)": 1, x_d, …, x_d^k without cross
  // terms.
  Mean(const std::string& expression);                             // NOLINT
  Mean(const char* expression) : Mean(std::string(expression)) {}  // NOLINT

  std::string print() const;
  bool is_zero() const { return degree_ < 0; }
  Index basis_count(Index dims) const;
  // h(x) of each row: N×basis_count.
  Matrix basis(ConstRows X) const;
  // Row i, column d: Σ_b ∂h_b/∂x_d w_b, for one column of weights.
  RowMatrix gradient(ConstRows X, ConstVector weights) const;
  // "mean.weights" (basis × P, row by row): the intercepts start at `intercepts`, the rest at zero.
  void declare(Parameters& out, Index dims, ConstVector intercepts) const;

 private:
  int degree_ = -1;  // −1 zero, 0 constant, 1 linear, …
};

}  // namespace covary
