#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <compare>

namespace covary {

// A forward dual number: a value with its derivatives in four directions at once. A function
// written as a template of its scalar type gives its gradient four directions a call.
struct Dual {
  static constexpr int lanes = 4;
  double value = 0.0;
  std::array<double, lanes> partial{};

  Dual() = default;
  Dual(double v) : value(v) {}  // a constant, so formulas may mix numbers and duals
  // The variable of direction `lane`.
  static Dual variable(double v, int lane) {
    Dual x(v);
    x.partial[static_cast<std::size_t>(lane)] = 1.0;
    return x;
  }

  Dual& operator+=(const Dual& b) { return *this = combine(value + b.value, 1.0, *this, 1.0, b); }
  Dual& operator-=(const Dual& b) { return *this = combine(value - b.value, 1.0, *this, -1.0, b); }
  Dual& operator*=(const Dual& b) {
    return *this = combine(value * b.value, b.value, *this, value, b);
  }
  Dual& operator/=(const Dual& b) {
    const double quotient = value / b.value;
    return *this = combine(quotient, 1.0 / b.value, *this, -quotient / b.value, b);
  }

  // y with dy = slope·dx. A direction in which x does not move is left alone even where the slope
  // is infinite, so that √0 of a distance between coincident points has the derivative zero.
  static Dual chain(double y, double slope, const Dual& x) {
    Dual out(y);
    for (std::size_t k = 0; k < lanes; ++k)
      out.partial[k] = x.partial[k] == 0.0 ? 0.0 : slope * x.partial[k];
    return out;
  }
  // y with dy = p·da + q·db
  static Dual combine(double y, double p, const Dual& a, double q, const Dual& b) {
    Dual out(y);
    for (std::size_t k = 0; k < lanes; ++k) out.partial[k] = p * a.partial[k] + q * b.partial[k];
    return out;
  }
};

inline Dual operator+(Dual a, const Dual& b) { return a += b; }
inline Dual operator-(Dual a, const Dual& b) { return a -= b; }
inline Dual operator*(Dual a, const Dual& b) { return a *= b; }
inline Dual operator/(Dual a, const Dual& b) { return a /= b; }
inline Dual operator+(const Dual& a) { return a; }
inline Dual operator-(const Dual& a) { return Dual::chain(-a.value, -1.0, a); }

// Duals compare by value, as the branches of a formula do.
inline bool operator==(const Dual& a, const Dual& b) { return a.value == b.value; }
inline std::partial_ordering operator<=>(const Dual& a, const Dual& b) {
  return a.value <=> b.value;
}

inline Dual exp(const Dual& x) {
  const double y = std::exp(x.value);
  return Dual::chain(y, y, x);
}
inline Dual log(const Dual& x) { return Dual::chain(std::log(x.value), 1.0 / x.value, x); }
inline Dual sqrt(const Dual& x) {
  const double y = std::sqrt(x.value);
  return Dual::chain(y, 0.5 / y, x);
}
inline Dual sin(const Dual& x) { return Dual::chain(std::sin(x.value), std::cos(x.value), x); }
inline Dual cos(const Dual& x) { return Dual::chain(std::cos(x.value), -std::sin(x.value), x); }
inline Dual tanh(const Dual& x) {
  const double y = std::tanh(x.value);
  return Dual::chain(y, 1.0 - y * y, x);
}
// At zero the derivative is zero, the middle of its two one-sided values.
inline Dual abs(const Dual& x) {
  return Dual::chain(std::abs(x.value), double((x.value > 0.0) - (x.value < 0.0)), x);
}
inline Dual pow(const Dual& x, double p) {
  return Dual::chain(std::pow(x.value, p), p == 0.0 ? 0.0 : p * std::pow(x.value, p - 1.0), x);
}
// Where the base does not exceed zero the derivative by the exponent is taken as zero.
inline Dual pow(const Dual& x, const Dual& p) {
  Dual y = pow(x, p.value);
  return y += Dual::chain(0.0, x.value > 0.0 ? y.value * std::log(x.value) : 0.0, p);
}
inline Dual max(const Dual& a, const Dual& b) { return a < b ? b : a; }
inline Dual min(const Dual& a, const Dual& b) { return b < a ? b : a; }

}  // namespace covary
