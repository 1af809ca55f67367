#pragma once

#include <array>
#include <cmath>
#include <concepts>

#include "covary/autodiff/dual.hpp"
#include "covary/linalg/gamma.hpp"
#include "covary/linalg/normal_tail.hpp"
#include "covary/linalg/special.hpp"

namespace covary {

// A value with its first three derivatives in one variable. T is double, or Dual to have the
// derivatives of all four by parameters besides: a likelihood's log density written as a template
// of its scalar type gives everything inference asks for.
template <class T>
struct Jet {
  T value{}, first{}, second{}, third{};

  Jet() = default;
  Jet(const T& v) : value(v) {}  // NOLINT: a constant, so formulas may mix numbers and jets
  template <class U>
  requires(std::convertible_to<U, T> && !std::same_as<U, T>) Jet(const U& v)
      : value(v) {}  // NOLINT
  Jet(const T& v, const T& d1, const T& d2, const T& d3)
      : value(v), first(d1), second(d2), third(d3) {}
  static Jet variable(const T& v) { return {v, T(1.0), T(0.0), T(0.0)}; }

  friend Jet operator+(const Jet& a) { return a; }
  friend Jet operator-(const Jet& a) { return {-a.value, -a.first, -a.second, -a.third}; }
  friend Jet operator+(const Jet& a, const Jet& b) {
    return {a.value + b.value, a.first + b.first, a.second + b.second, a.third + b.third};
  }
  friend Jet operator-(const Jet& a, const Jet& b) {
    return {a.value - b.value, a.first - b.first, a.second - b.second, a.third - b.third};
  }
  friend Jet operator*(const Jet& a, const Jet& b) {
    return {
        a.value * b.value, a.first * b.value + a.value * b.first,
        a.second * b.value + 2.0 * (a.first * b.first) + a.value * b.second,
        a.third * b.value + 3.0 * (a.second * b.first + a.first * b.second) + a.value * b.third};
  }
  friend Jet operator/(const Jet& a, const Jet& b) { return a * reciprocal(b); }

  // With a constant on one side three quarters of the work goes.
  template <class U>
  requires std::convertible_to<U, T>
  friend Jet operator+(const Jet& a, const U& c) {
    return {a.value + c, a.first, a.second, a.third};
  }
  template <class U>
  requires std::convertible_to<U, T>
  friend Jet operator+(const U& c, const Jet& a) { return a + c; }
  template <class U>
  requires std::convertible_to<U, T>
  friend Jet operator-(const Jet& a, const U& c) {
    return {a.value - c, a.first, a.second, a.third};
  }
  template <class U>
  requires std::convertible_to<U, T>
  friend Jet operator-(const U& c, const Jet& a) {
    return {c - a.value, -a.first, -a.second, -a.third};
  }
  template <class U>
  requires std::convertible_to<U, T>
  friend Jet operator*(const Jet& a, const U& c) {
    return {a.value * c, a.first * c, a.second * c, a.third * c};
  }
  template <class U>
  requires std::convertible_to<U, T>
  friend Jet operator*(const U& c, const Jet& a) { return a * c; }
  template <class U>
  requires std::convertible_to<U, T>
  friend Jet operator/(const Jet& a, const U& c) {
    return {a.value / c, a.first / c, a.second / c, a.third / c};
  }
  template <class U>
  requires std::convertible_to<U, T>
  friend Jet operator/(const U& c, const Jet& a) { return reciprocal(a) * c; }
  Jet& operator+=(const Jet& b) { return *this = *this + b; }
  Jet& operator-=(const Jet& b) { return *this = *this - b; }
  Jet& operator*=(const Jet& b) { return *this = *this * b; }

  // Jets compare by value, as the branches of a formula do.
  friend bool operator<(const Jet& a, const Jet& b) { return a.value < b.value; }
  friend bool operator>(const Jet& a, const Jet& b) { return a.value > b.value; }
};

// A function of one variable with its first four derivatives, all at a number.
using Slopes = std::array<double, 5>;

namespace slopes {
// g(x) for a number, a dual or a jet from the slopes of g at its value.
inline double lift(const Slopes& g, std::size_t k, double) { return g[k]; }
inline Dual lift(const Slopes& g, std::size_t k, const Dual& x) {
  return Dual::chain(g[k], g[k + 1], x);
}
inline double number(double x) { return x; }
inline double number(const Dual& x) { return x.value; }

// Faà di Bruno to the third order.
template <class T>
Jet<T> chain(const Slopes& g, const Jet<T>& x) {
  const T g1 = lift(g, 1, x.value), g2 = lift(g, 2, x.value), g3 = lift(g, 3, x.value);
  return {lift(g, 0, x.value), g1 * x.first, g2 * (x.first * x.first) + g1 * x.second,
          g3 * (x.first * x.first * x.first) + 3.0 * (g2 * (x.first * x.second)) + g1 * x.third};
}

Slopes exp(double x);
Slopes log(double x);
Slopes log1p(double x);
Slopes reciprocal(double x);
Slopes power(double x, double p);
Slopes sin(double x);
Slopes cos(double x);
Slopes tanh(double x);
Slopes softplus(double x);
Slopes sigmoid(double x);
Slopes log_gamma(double x);          // x > 0
Slopes normal_log_cdf(double x);     // log Φ
Slopes log_one_minus_exp(double x);  // log(1 − e⁻ˣ), x > 0
}  // namespace slopes

// Overloads of the slopes above: for jets all, for duals those that dual.hpp does not have.
template <class T>
Jet<T> exp(const Jet<T>& x) {
  return slopes::chain(slopes::exp(slopes::number(x.value)), x);
}
template <class T>
Jet<T> log(const Jet<T>& x) {
  return slopes::chain(slopes::log(slopes::number(x.value)), x);
}
template <class T>
Jet<T> log1p(const Jet<T>& x) {
  return slopes::chain(slopes::log1p(slopes::number(x.value)), x);
}
template <class T>
Jet<T> reciprocal(const Jet<T>& x) {
  return slopes::chain(slopes::reciprocal(slopes::number(x.value)), x);
}
template <class T>
Jet<T> pow(const Jet<T>& x, double p) {
  return slopes::chain(slopes::power(slopes::number(x.value), p), x);
}
template <class T>
Jet<T> sqrt(const Jet<T>& x) {
  return pow(x, 0.5);
}
template <class T>
Jet<T> sin(const Jet<T>& x) {
  return slopes::chain(slopes::sin(slopes::number(x.value)), x);
}
template <class T>
Jet<T> cos(const Jet<T>& x) {
  return slopes::chain(slopes::cos(slopes::number(x.value)), x);
}
template <class T>
Jet<T> tanh(const Jet<T>& x) {
  return slopes::chain(slopes::tanh(slopes::number(x.value)), x);
}
template <class T>
Jet<T> softplus(const Jet<T>& x) {
  return slopes::chain(slopes::softplus(slopes::number(x.value)), x);
}
template <class T>
Jet<T> sigmoid(const Jet<T>& x) {
  return slopes::chain(slopes::sigmoid(slopes::number(x.value)), x);
}
template <class T>
Jet<T> log_gamma(const Jet<T>& x) {
  return slopes::chain(slopes::log_gamma(slopes::number(x.value)), x);
}
template <class T>
Jet<T> normal_log_cdf(const Jet<T>& x) {
  return slopes::chain(slopes::normal_log_cdf(slopes::number(x.value)), x);
}
template <class T>
Jet<T> log_one_minus_exp(const Jet<T>& x) {
  return slopes::chain(slopes::log_one_minus_exp(slopes::number(x.value)), x);
}

inline Dual log1p(const Dual& x) { return slopes::lift(slopes::log1p(x.value), 0, x); }
inline Dual softplus(const Dual& x) { return slopes::lift(slopes::softplus(x.value), 0, x); }
inline Dual sigmoid(const Dual& x) { return slopes::lift(slopes::sigmoid(x.value), 0, x); }
inline Dual log_gamma(const Dual& x) { return slopes::lift(slopes::log_gamma(x.value), 0, x); }
inline Dual normal_log_cdf(const Dual& x) {
  return slopes::lift(slopes::normal_log_cdf(x.value), 0, x);
}

}  // namespace covary
