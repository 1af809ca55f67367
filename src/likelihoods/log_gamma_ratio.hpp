#pragma once

#include <cmath>

#include "covary/autodiff/jet.hpp"

namespace covary {

// log Γ(a + y)/Γ(a) for y ≥ 0. The difference of two log gammas loses all figures once a is large,
// where Stirling's series gives it without cancellation; a is a number or a dual.
template <class P>
P log_gamma_ratio(const P& a, double y) {
  using std::log, std::log1p;
  const P b = a + y;
  if (slopes::number(a) < 16.0) return log_gamma(b) - log_gamma(a);
  // log Γ(x) = (x − ½)log x − x + ½log 2π + 1/12x − 1/360x³ + 1/1260x⁵ − 1/1680x⁷ + …
  const auto rest = [](const P& x) {
    const P r = 1.0 / x, r2 = r * r;
    return r * (1.0 / 12.0 + r2 * (-1.0 / 360.0 + r2 * (1.0 / 1260.0 - r2 / 1680.0)));
  };
  return y * log(a) + (b - 0.5) * log1p(y / a) - y + (rest(b) - rest(a));
}

}  // namespace covary
