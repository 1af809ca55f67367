#include "covary/linalg/special.hpp"

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <limits>

#include "covary/error.hpp"

namespace covary {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double half_log_two_pi = 0.91893853320467274178;
constexpr double two_over_sqrt_pi = 1.1283791670955125739;
constexpr double one_over_sqrt_two_pi = 0.39894228040143267794;

// ½ erfc(x/√2) = Φ(−x). The rounding of x/√2 alone would cost x² units in the last place, so its
// remainder δ enters to first order: erfc(t + δ) ≈ erfc(t) − (2/√π) e^{−t²} δ.
double upper_tail(double x) {
  constexpr double c = 0.70710678118654757;           // 1/√2 rounded …
  constexpr double c_rest = -4.8336466567264567e-17;  // … and the rest of it
  const double t = x * c;
  if (!(std::abs(t) < 40.0)) return 0.5 * std::erfc(t);
  const double delta = std::fma(x, c, -t) + x * c_rest;
  return 0.5 * (std::erfc(t) - two_over_sqrt_pi * std::exp(-t * t) * delta);
}

template <std::size_t n>
double polynomial(const std::array<double, n>& a, double x) {
  double sum = a[n - 1];
  for (std::size_t i = n - 1; i-- > 0;) sum = sum * x + a[i];
  return sum;
}

}  // namespace

double normal_pdf(double x) {
  const double square = x * x;
  const double kernel = one_over_sqrt_two_pi * std::exp(-0.5 * square);
  if (!(square < 1500.0)) return kernel;                  // zero, or not a number
  return kernel * (1.0 - 0.5 * std::fma(x, x, -square));  // the rounding of x² is put back
}

double normal_log_pdf(double x) { return -0.5 * x * x - half_log_two_pi; }

double normal_cdf(double x) { return upper_tail(-x); }

double normal_log_cdf(double x) {
  if (x > 0.0) return std::log1p(-upper_tail(x));
  if (!(x < -15.0)) return std::log(upper_tail(-x));
  // Φ(x) = N(x)/|x| · (1 − 1/x² + 3/x⁴ − 15/x⁶ + …); ten terms are exact to double here.
  const double r = 1.0 / (x * x);
  double series = 0.0;
  for (int k = 10; k >= 1; --k) series = -(2 * k - 1) * r * (1.0 + series);
  return normal_log_pdf(x) - std::log(-x) + std::log1p(series);
}

// Wichura, "Algorithm AS 241: the percentage points of the normal distribution", Applied Statistics
// 37, 1988: three ratios of polynomials of degree seven, about sixteen figures.
double inverse_normal_cdf(double p) {
  if (std::isnan(p)) return p;
  if (p < 0.0 || p > 1.0)
    throw InputError(fmt::format("a probability is {}; it must lie between 0 and 1", p));
  if (p == 0.0) return -infinity;
  if (p == 1.0) return infinity;
  using Coefficients = std::array<double, 8>;
  const double q = p - 0.5;
  if (std::abs(q) <= 0.425) {
    constexpr Coefficients a{3.3871328727963666080e0, 1.3314166789178437745e2,
                             1.9715909503065514427e3, 1.3731693765509461125e4,
                             4.5921953931549871457e4, 6.7265770927008700853e4,
                             3.3430575583588128105e4, 2.5090809287301226727e3};
    constexpr Coefficients b{1.0,
                             4.2313330701600911252e1,
                             6.8718700749205790830e2,
                             5.3941960214247511077e3,
                             2.1213794301586595867e4,
                             3.9307895800092710610e4,
                             2.8729085735721942674e4,
                             5.2264952788528545610e3};
    const double r = 0.180625 - q * q;
    return q * polynomial(a, r) / polynomial(b, r);
  }
  double r = std::sqrt(-std::log(q < 0.0 ? p : 1.0 - p));
  double x = 0.0;
  if (r <= 5.0) {
    constexpr Coefficients c{1.42343711074968357734e0,  4.63033784615654529590e0,
                             5.76949722146069140550e0,  3.64784832476320460504e0,
                             1.27045825245236838258e0,  2.41780725177450611770e-1,
                             2.27238449892691845833e-2, 7.74545014278341407640e-4};
    constexpr Coefficients d{1.0,
                             2.05319162663775882187e0,
                             1.67638483018380384940e0,
                             6.89767334985100004550e-1,
                             1.48103976427480074590e-1,
                             1.51986665636164571966e-2,
                             5.47593808499534494600e-4,
                             1.05075007164441684324e-9};
    r -= 1.6;
    x = polynomial(c, r) / polynomial(d, r);
  } else {
    constexpr Coefficients e{6.65790464350110377720e0,  5.46378491116411436990e0,
                             1.78482653991729133580e0,  2.96560571828504891230e-1,
                             2.65321895265761230930e-2, 1.24266094738807843860e-3,
                             2.71155556874348757815e-5, 2.01033439929228813265e-7};
    constexpr Coefficients f{1.0,
                             5.99832206555887937690e-1,
                             1.36929880922735805310e-1,
                             1.48753612908506148525e-2,
                             7.86869131145613259100e-4,
                             1.84631831751005468180e-5,
                             1.42151175831644588870e-7,
                             2.04426310338993978564e-15};
    r -= 5.0;
    x = polynomial(e, r) / polynomial(f, r);
  }
  return q < 0.0 ? -x : x;
}

double softplus(double x) {
  return x > 0.0 ? x + std::log1p(std::exp(-x)) : std::log1p(std::exp(x));
}

double inverse_softplus(double y) {
  if (y < 0.0)
    throw InputError(fmt::format("inverse_softplus of {}; softplus is never negative", y));
  // Both forms pass through zero at y = log 2; each is used where it does not cancel.
  return y < 1.0 ? std::log(std::expm1(y)) : y + std::log1p(-std::exp(-y));
}

double sigmoid(double x) {
  if (x >= 0.0) return 1.0 / (1.0 + std::exp(-x));
  const double e = std::exp(x);
  return e / (1.0 + e);
}

double log_sum_exp(ConstVector x) {
  if (x.size() == 0) return -infinity;
  double largest = x[0];
  for (Index i = 1; i < x.size(); ++i)
    if (x[i] > largest || std::isnan(x[i])) largest = x[i];
  if (!std::isfinite(largest)) return largest;
  double sum = 0.0;
  for (Index i = 0; i < x.size(); ++i) sum += std::exp(x[i] - largest);
  return largest + std::log(sum);
}

}  // namespace covary
