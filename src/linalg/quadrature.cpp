#include "covary/linalg/quadrature.hpp"

#include <fmt/format.h>

#include <cmath>

#include "covary/error.hpp"

namespace covary {
namespace {

// Gauss's rule for a symmetric probability measure whose orthonormal polynomials obey
//   x·p_k = b_{k+1}·p_{k+1} + b_k·p_{k−1},   p_0 = 1.
// The nodes are the zeros of p_n, which are the eigenvalues of the tridiagonal matrix with zero
// diagonal and off-diagonal b_1 … b_{n−1}; the weights are 1/Σ_{k<n} p_k².

// The number of eigenvalues below x: the negative pivots of T − x·I (Sturm).
Index count_below(const Vector& b, Index n, double x) {
  Index count = 0;
  double pivot = -x;
  for (Index k = 1;; ++k) {
    if (pivot == 0.0) pivot = 1e-300;
    count += pivot < 0.0;
    if (k == n) return count;
    pivot = -x - b[k] * b[k] / pivot;
  }
}

// The eigenvalue with `rank` others below it, lying in (lower, upper), to some ten figures.
double bisect(const Vector& b, Index n, Index rank, double lower, double upper) {
  for (int i = 0; i < 36; ++i) {
    const double middle = 0.5 * (lower + upper);
    (count_below(b, n, middle) <= rank ? lower : upper) = middle;
  }
  return 0.5 * (lower + upper);
}

struct Polynomials {
  double last, before;    // p_n and p_{n−1}
  double sum_of_squares;  // Σ_{k<n} p_k²
};

Polynomials evaluate(const Vector& b, Index n, double x) {
  Polynomials p{1.0, 0.0, 0.0};
  for (Index k = 0; k < n; ++k) {
    p.sum_of_squares += p.last * p.last;
    const double next = (x * p.last - b[k] * p.before) / b[k + 1];
    p.before = p.last;
    p.last = next;
  }
  return p;
}

// b has n + 1 entries, the first of them zero.
QuadratureRule symmetric_rule(const Vector& b) {
  const Index n = b.size() - 1;
  const double bound = 2.0 * b.maxCoeff();  // Gershgorin
  QuadratureRule rule{Vector(n), Vector(n)};
  for (Index i = n / 2; i < n; ++i) {
    const bool centre = 2 * i + 1 == n;
    double x = centre ? 0.0 : bisect(b, n, i, 0.0, bound);
    // Newton's step −p_n/p_n′, where p_n′ = Σ p_k²/(b_n·p_{n−1}) at a zero (Christoffel–Darboux).
    for (int step = 0; step < 2 && !centre; ++step) {
      const Polynomials p = evaluate(b, n, x);
      x -= b[n] * p.last * p.before / p.sum_of_squares;
    }
    rule.nodes[i] = x;
    rule.nodes[n - 1 - i] = centre ? 0.0 : -x;
    rule.weights[i] = rule.weights[n - 1 - i] = 1.0 / evaluate(b, n, x).sum_of_squares;
  }
  return rule;
}

}  // namespace

QuadratureRule gauss_hermite(Index n) {
  if (n < 1 || n > 300)
    throw InputError(fmt::format("gauss_hermite with {} nodes; it has 1 to 300", n));
  Vector b(n + 1);
  for (Index k = 0; k <= n; ++k) b[k] = std::sqrt(static_cast<double>(k));
  return symmetric_rule(b);
}

QuadratureRule gauss_legendre(Index n, double a, double b) {
  if (n < 1) throw InputError(fmt::format("gauss_legendre with {} nodes; it needs at least 1", n));
  if (!std::isfinite(a) || !std::isfinite(b) || !(a < b))
    throw InputError(
        fmt::format("gauss_legendre on [{}, {}]; it needs finite ends in order", a, b));
  Vector recurrence(n + 1);
  recurrence[0] = 0.0;
  for (Index k = 1; k <= n; ++k) {
    const auto x = static_cast<double>(k);
    recurrence[k] = x / std::sqrt(4.0 * x * x - 1.0);
  }
  QuadratureRule rule = symmetric_rule(recurrence);
  const double middle = 0.5 * a + 0.5 * b, half = 0.5 * b - 0.5 * a;
  rule.nodes = (middle + half * rule.nodes.array()).matrix();
  rule.weights *= 2.0 * half;
  return rule;
}

}  // namespace covary
