#include "covary/data/mackey_glass.hpp"

#include <fmt/format.h>

#include <cmath>
#include <vector>

#include "covary/error.hpp"

namespace covary {
namespace {

constexpr std::size_t per_unit = 20, delay = 17 * per_unit;

double slope(double now, double then) { return -0.1 * now + 0.2 * then / (1 + std::pow(then, 10)); }

}  // namespace

Vector mackey_glass(Index n, double history, Index first) {
  if (n < 1 || first < 0)
    throw InputError(
        fmt::format("{} values from t = {} were asked for; at least 1 from 0 on", n, first));
  if (!std::isfinite(history))
    throw InputError(fmt::format("the history of the series is {}", history));
  const double h = 1.0 / static_cast<double>(per_unit);
  const std::size_t steps = static_cast<std::size_t>(first + n - 1) * per_unit;
  std::vector<double> x(delay + 2, history);  // x[delay + 1 + i] is at t = i·h
  x.reserve(x.size() + steps);
  for (std::size_t i = 0; i < steps; ++i) {
    const double* then = x.data() + i + 1;  // ζ(t − 17)
    const double middle = (9.0 * (then[0] + then[1]) - then[-1] - then[2]) / 16.0;
    const double now = x.back(), a = slope(now, then[0]), b = slope(now + 0.5 * h * a, middle),
                 c = slope(now + 0.5 * h * b, middle), d = slope(now + h * c, then[1]);
    x.push_back(now + h / 6.0 * (a + 2.0 * (b + c) + d));
  }
  Vector out(n);
  for (Index i = 0; i < n; ++i)
    out(i) = x[delay + 1 + static_cast<std::size_t>(first + i) * per_unit];
  return out;
}

}  // namespace covary
