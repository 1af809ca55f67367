#include "covary/autodiff/elementwise.hpp"

#include <cmath>
#include <numbers>

#include "autodiff/operation.hpp"

namespace covary {
namespace {

// F gives y = value(x) and slope(x, y) = dy/dx; an exponent, where there is one, comes last.
template <class F>
void pull(Reverse& r) {
  if (!r.wants(0)) return;
  const double *x = r.input(0).data(), *y = r.value().data(), *bar = r.bar().data();
  double* to = r.adjoint(0).data();
  for (Index n = 0; n < r.value().size(); ++n) to[n] += bar[n] * F::slope(x[n], y[n], r.op.number);
}

template <class F>
Var apply(const char* name, Var var, double number = 0.0) {
  Operation& op = TapeState::begin(name, {var});
  op.number = number;
  op.value.resize(var.rows(), var.cols());
  const double* x = var.value().data();
  double* y = op.value.data();
  for (Index n = 0; n < op.value.size(); ++n) y[n] = F::value(x[n], number);
  return TapeState::commit(var, pull<F>);
}

// Both without overflow on either side.
double logistic(double x) {
  const double e = std::exp(-std::abs(x));
  return (x >= 0.0 ? 1.0 : e) / (1.0 + e);
}

struct Exp {
  static double value(double x, double) { return std::exp(x); }
  static double slope(double, double y, double) { return y; }
};
struct Log {
  static double value(double x, double) { return std::log(x); }
  static double slope(double x, double, double) { return 1.0 / x; }
};
struct Sqrt {
  static double value(double x, double) { return std::sqrt(x); }
  static double slope(double, double y, double) { return 0.5 / y; }
};
struct Square {
  static double value(double x, double) { return x * x; }
  static double slope(double x, double, double) { return 2.0 * x; }
};
struct Reciprocal {
  static double value(double x, double) { return 1.0 / x; }
  static double slope(double, double y, double) { return -y * y; }
};
struct Power {
  static double value(double x, double p) { return std::pow(x, p); }
  static double slope(double x, double, double p) {
    return p == 0.0 ? 0.0 : p * std::pow(x, p - 1.0);
  }
};
struct Sin {
  static double value(double x, double) { return std::sin(x); }
  static double slope(double x, double, double) { return std::cos(x); }
};
struct Cos {
  static double value(double x, double) { return std::cos(x); }
  static double slope(double x, double, double) { return -std::sin(x); }
};
struct Tanh {
  static double value(double x, double) { return std::tanh(x); }
  static double slope(double, double y, double) { return 1.0 - y * y; }
};
struct Softplus {
  static double value(double x, double) {
    return std::max(x, 0.0) + std::log1p(std::exp(-std::abs(x)));
  }
  static double slope(double x, double, double) { return logistic(x); }
};
struct Sigmoid {
  static double value(double x, double) { return logistic(x); }
  static double slope(double x, double y, double) { return y * logistic(-x); }
};
struct NormalCdf {
  static double value(double x, double) { return 0.5 * std::erfc(-x / std::numbers::sqrt2); }
  static double slope(double x, double, double) {
    return std::exp(-0.5 * x * x) * std::numbers::inv_sqrtpi / std::numbers::sqrt2;
  }
};

}  // namespace

Var exp(Var x) { return apply<Exp>("exp", x); }
Var log(Var x) { return apply<Log>("log", x); }
Var sqrt(Var x) { return apply<Sqrt>("sqrt", x); }
Var square(Var x) { return apply<Square>("square", x); }
Var reciprocal(Var x) { return apply<Reciprocal>("reciprocal", x); }
Var pow(Var x, double exponent) { return apply<Power>("pow", x, exponent); }
Var sin(Var x) { return apply<Sin>("sin", x); }
Var cos(Var x) { return apply<Cos>("cos", x); }
Var tanh(Var x) { return apply<Tanh>("tanh", x); }
Var softplus(Var x) { return apply<Softplus>("softplus", x); }
Var sigmoid(Var x) { return apply<Sigmoid>("sigmoid", x); }
Var normal_cdf(Var x) { return apply<NormalCdf>("normal_cdf", x); }

}  // namespace covary
