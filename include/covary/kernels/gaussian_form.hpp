#pragma once

#include <optional>
#include <vector>

#include "covary/linalg/types.hpp"

namespace covary {

// One term of a kernel whose expectations under Gaussian inputs have a closed form:
//   factor · Π θ[variances] · exp(−½ Σ_d w_d (x_d − z_d)²) · Σ_d c_d x_d z_d,
// with w_d = Σ 1/θ[l]² over the lengthscales l of column d, and the last factor only if the term is
// linear, c_d = θ[linear[d]].
struct GaussianTerm {
  double factor = 1.0;
  std::vector<Index> variances;
  std::vector<std::vector<Index>> lengthscales;  // of each column; none: w_d = 0
  std::vector<Index> linear;                     // of each column, −1: c_d = 0; empty: not linear

  bool is_linear() const { return !linear.empty(); }
};

// White noise: factor · Π θ[variances], of the rows alone.
struct WhiteTerm {
  double factor = 1.0;
  std::vector<Index> variances;
};

// A kernel as a sum of such terms. A node that has this form says so; sums, products, scaling and
// chosen columns make theirs from those of their parts.
struct GaussianForm {
  std::vector<GaussianTerm> terms;
  std::vector<WhiteTerm> white;

  // Parameters counted from `offset` on.
  void shift(Index offset);
  void scale(double factor);
  // For inputs of `dims` columns, of which this form sees the chosen ones.
  void place(const std::vector<Index>& chosen, Index dims);
  void add(GaussianForm other);
};

// The product, term by term; nothing if two linear terms meet or noise meets a smooth term.
std::optional<GaussianForm> product(const GaussianForm& a, const GaussianForm& b);

}  // namespace covary
