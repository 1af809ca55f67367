#include "covary/autodiff/jet.hpp"

namespace covary::slopes {

Slopes exp(double x) {
  const double e = std::exp(x);
  return {e, e, e, e, e};
}
Slopes log(double x) {
  const double r = 1.0 / x, r2 = r * r;
  return {std::log(x), r, -r2, 2.0 * r * r2, -6.0 * r2 * r2};
}
Slopes log1p(double x) {
  Slopes g = log(1.0 + x);
  g[0] = std::log1p(x);
  return g;
}
Slopes reciprocal(double x) {
  const double r = 1.0 / x, r2 = r * r;
  return {r, -r2, 2.0 * r * r2, -6.0 * r2 * r2, 24.0 * r * r2 * r2};
}
Slopes power(double x, double p) {
  Slopes g{};
  double factor = 1.0;
  // A whole power has no derivatives beyond its own order, at zero too.
  for (std::size_t k = 0; k < g.size() && factor != 0.0; ++k) {
    g[k] = factor * std::pow(x, p - static_cast<double>(k));
    factor *= p - static_cast<double>(k);
  }
  return g;
}
Slopes sin(double x) {
  const double s = std::sin(x), c = std::cos(x);
  return {s, c, -s, -c, s};
}
Slopes cos(double x) {
  const double s = std::sin(x), c = std::cos(x);
  return {c, -s, -c, s, c};
}
Slopes tanh(double x) {
  const double t = std::tanh(x), d = 1.0 - t * t;
  return {t, d, -2.0 * t * d, d * (6.0 * t * t - 2.0), t * d * (16.0 - 24.0 * t * t)};
}
Slopes softplus(double x) {
  const double e = std::exp(-std::abs(x)), small = e / (1.0 + e), large = 1.0 / (1.0 + e);
  const double s = x > 0.0 ? large : small, c = x > 0.0 ? small : large, v = s * c;
  return {std::max(x, 0.0) + std::log1p(e), s, v, v * (c - s), v * (1.0 - 6.0 * v)};
}
Slopes sigmoid(double x) {
  const Slopes g = softplus(x);
  return {g[1], g[2], g[3], g[4], g[3] * (1.0 - 12.0 * g[2])};
}
Slopes log_gamma(double x) { return log_gamma_derivatives(x); }
Slopes normal_log_cdf(double x) {
  const auto [log_cdf, r, h] = normal_tail(x);
  const double third = h * h + r * h - 1.0, dh = 1.0 - r * h;
  return {log_cdf, r, -r * h, r * third, r * (-h * third + 2.0 * h * dh - r * h * h + r * dh)};
}
Slopes log_one_minus_exp(double x) {
  const double q = 1.0 / std::expm1(x), v = q * (1.0 + q);
  const double value = x < 0.6931 ? std::log(-std::expm1(-x)) : std::log1p(-std::exp(-x));
  return {value, q, -v, v * (1.0 + 2.0 * q), -v * (1.0 + 6.0 * v)};
}

}  // namespace covary::slopes
