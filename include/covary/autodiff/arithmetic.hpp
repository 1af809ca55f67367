#pragma once

#include "covary/autodiff/tape.hpp"

namespace covary {

// Elementwise arithmetic. A dimension of one is repeated to match the other operand's, so scalars,
// rows and columns broadcast: R×C with R×C, 1×C, R×1 or 1×1, in either order.
Var operator+(Var a, Var b);
Var operator-(Var a, Var b);
Var operator/(Var a, Var b);
Var hadamard(Var a, Var b);

Var operator+(Var a, double b);
Var operator+(double a, Var b);
Var operator-(Var a, double b);
Var operator-(double a, Var b);
Var operator*(Var a, double b);
Var operator*(double a, Var b);
Var operator/(Var a, double b);
Var operator/(double a, Var b);
Var operator-(Var a);

}  // namespace covary
