#include "covary/linalg/gamma.hpp"

#include <fmt/format.h>
#include <math.h>  // lgamma_r, which is POSIX and not in <cmath>

#include <array>
#include <cmath>

#include "covary/error.hpp"

namespace covary {
namespace {

constexpr std::array<double, 9> bernoulli{1.0 / 6.0,   -1.0 / 30.0,     1.0 / 42.0,
                                          -1.0 / 30.0, 5.0 / 66.0,      -691.0 / 2730.0,
                                          7.0 / 6.0,   -3617.0 / 510.0, 43867.0 / 798.0};
constexpr double large = 16.0;  // where the series below give all figures

}  // namespace

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
  constexpr std::array<double, 5> factorial{1.0, 1.0, 2.0, 6.0, 24.0};
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

std::array<double, 5> log_gamma_derivatives(double x) {
  if (!(x > 0.0)) return {log_gamma(x), std::nan(""), std::nan(""), std::nan(""), std::nan("")};
  const double value = log_gamma(x);
  double s0 = 0.0, s1 = 0.0, s2 = 0.0, s3 = 0.0;
  for (; x < large; x += 1.0) {
    const double q = 1.0 / x, q2 = q * q;
    s0 += q;
    s1 += q2;
    s2 += 2.0 * q * q2;
    s3 += 6.0 * q2 * q2;
  }
  const double r = 1.0 / x, r2 = r * r;
  double t0 = 0.0, t1 = 0.0, t2 = 0.0, t3 = 0.0, power = r2, two_k = 2.0;
  for (const double b : bernoulli) {
    const double term = b * power;
    t0 += term / two_k;
    t1 += term;
    t2 += term * (two_k + 1.0);
    t3 += term * (two_k + 1.0) * (two_k + 2.0);
    power *= r2;
    two_k += 2.0;
  }
  return {value, std::log(x) - 0.5 * r - t0 - s0, r * (1.0 + 0.5 * r + t1) + s1,
          -(r2 * (1.0 + r + t2) + s2), r * r2 * (2.0 + 3.0 * r + t3) + s3};
}

}  // namespace covary
