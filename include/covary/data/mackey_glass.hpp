#pragma once

#include "covary/linalg/types.hpp"

namespace covary {

// The chaotic series of Mackey & Glass (1977), dζ/dt = −0.1ζ(t) + 0.2ζ(t−17)/(1 + ζ(t−17)¹⁰), at
// t = first, first + 1, …: n values. Before t = 0 it is `history`. Runge–Kutta in steps of 1/20.
Vector mackey_glass(Index n, double history = 1.2, Index first = 0);

}  // namespace covary
