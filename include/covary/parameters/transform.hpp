#pragma once

#include <string>

#include "covary/linalg/types.hpp"

namespace covary {

// A map between an unconstrained vector u, where optimisers live, and a constrained one x.
class Transform {
 public:
  enum class Kind { real, positive, bounded, lower_triangular, ordered };

  static Transform real();
  // x = floor + scale·softplus(u). The scale makes u of order one when x is of order `scale`.
  static Transform positive(double scale = 1.0, double floor = 0.0);
  // x = low + (high − low)·sigmoid(u)
  static Transform bounded(double low, double high);
  // The n(n+1)/2 entries of a lower-triangular matrix, row by row, with a positive diagonal.
  static Transform lower_triangular();
  // x₁ < x₂ < …: differences are softplus of u₂, u₃, …
  static Transform ordered();

  Kind kind() const { return kind_; }
  double low() const { return low_; }    // floor of positive, low end of bounded
  double high() const { return high_; }  // scale of positive, high end of bounded

  Vector constrain(ConstVector u) const;
  // The inverse; throws InputError naming `what` for values outside the range.
  Vector unconstrain(ConstVector x, const std::string& what = "value") const;
  // Jᵀ·x_bar with J = ∂x/∂u at u.
  Vector pullback(ConstVector u, ConstVector x_bar) const;
  std::string describe() const;

 private:
  Transform(Kind kind, double low, double high) : kind_(kind), low_(low), high_(high) {}
  Kind kind_;
  double low_, high_;
};

}  // namespace covary
