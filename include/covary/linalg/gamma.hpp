#pragma once

#include <array>

namespace covary {

// log Γ(x) for x > 0. Unlike std::lgamma it may be called from many threads at once.
double log_gamma(double x);

// The derivatives of log Γ for x > 0: order 0 is the digamma function ψ, order 1 the trigamma
// function, up to order 4. A few units in the last place, except next to the zero of ψ at 1.4616.
double polygamma(int order, double x);

// log Γ, ψ, ψ′, ψ″, ψ‴ at once, for the price of little more than one.
std::array<double, 5> log_gamma_derivatives(double x);

}  // namespace covary
