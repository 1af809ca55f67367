#pragma once

#include "covary/autodiff/tape.hpp"

namespace covary {

// Functions of each element. Outside a function's domain the value is NaN or infinite as in
// <cmath>, and Tape::gradient() then names the operation.
Var exp(Var x);
Var log(Var x);
Var sqrt(Var x);
Var square(Var x);
Var reciprocal(Var x);
Var pow(Var x, double exponent);
Var sin(Var x);
Var cos(Var x);
Var tanh(Var x);
Var softplus(Var x);    // log(1 + eˣ)
Var sigmoid(Var x);     // 1/(1 + e⁻ˣ)
Var normal_cdf(Var x);  // Φ(x)

}  // namespace covary
