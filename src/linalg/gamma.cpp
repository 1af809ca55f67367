#include "covary/linalg/gamma.hpp"

#include <fmt/format.h>
#include <math.h>  // lgamma_r, which is POSIX and not in <cmath>

#include <array>
#include <cmath>

#include "covary/error.hpp"

namespace covary {

double log_gamma(double x) {
  int sign = 0;
  return ::lgamma_r(x, &sign);
}

// ψ⁽ⁿ⁾(x) = ψ⁽ⁿ⁾(x + 1) − (−1)ⁿ n!/xⁿ⁺¹ until x is large, where
//   ψ(x)    ~ log x − 1/2x − Σ B₂ₖ/(2k x²ᵏ),
//   ψ⁽ⁿ⁾(x) ~ (−1)ⁿ⁺¹ [(n−1)!/xⁿ + n!/(2xⁿ⁺¹) + Σ B₂ₖ (2k+n−1)!/((2k)! x²ᵏ⁺ⁿ)].
double polygamma(int order, double x) {
  if (order < 0 || order > 4)
    throw InputError(fmt::format("polygamma of order {}; orders are 0 to 4", order));
  if (!(x > 0.0)) return std::nan("");
  constexpr std::array<double, 9> bernoulli{1.0 / 6.0,   -1.0 / 30.0,     1.0 / 42.0,
                                            -1.0 / 30.0, 5.0 / 66.0,      -691.0 / 2730.0,
                                            7.0 / 6.0,   -3617.0 / 510.0, 43867.0 / 798.0};
  constexpr std::array<double, 5> factorial{1.0, 1.0, 2.0, 6.0, 24.0};
  constexpr double large = 16.0;
  const auto n = static_cast<std::size_t>(order);
  const double sign = order % 2 == 0 ? -1.0 : 1.0;  // (−1)ⁿ⁺¹
  double shifted = 0.0;
  for (; x < large; x += 1.0) {
    double power = x;
    for (int i = 0; i < order; ++i) power *= x;
    shifted += factorial[n] / power;
  }
  const double r = 1.0 / x;
  double tail = 0.0, power = r * r, rising = 1.0;  // rising = (2k+n−1)!/(2k)!
  for (std::size_t k = 1; k <= bernoulli.size(); ++k, power *= r * r) {
    const auto two_k = static_cast<double>(2 * k);
    rising = 1.0;
    if (order == 0) rising = 1.0 / two_k;
    for (int i = 1; i < order; ++i) rising *= two_k + i;
    tail += bernoulli[k - 1] * rising * power;
  }
  if (order == 0) return std::log(x) - 0.5 * r - tail - shifted;
  double scale = 1.0;
  for (int i = 0; i < order; ++i) scale *= r;
  return sign * (scale * (factorial[n - 1] + 0.5 * factorial[n] * r + tail) + shifted);
}

}  // namespace covary
