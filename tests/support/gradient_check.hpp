#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <exception>
#include <functional>
#include <limits>
#include <vector>

#include "covary/linalg/types.hpp"

// The one finite-difference check of the project.
namespace covary {

using ScalarFunction = std::function<double(const Vector&)>;

// df/dxᵢ by central differences over halved steps, extrapolated to a step of zero (Richardson), the
// entry with the smallest error estimate taken (Ridders 1982). Where f throws or is not finite the
// step was too long: the next one is tried. NaN if no step will do. Once an estimate is good and
// shorter steps make it worse, only rounding is left and two of its values may agree by chance:
// stop.
inline double central_difference(const ScalarFunction& f, const Vector& at, Index i) {
  constexpr int steps = 22;
  constexpr std::size_t orders = 6;  // more columns only extrapolate rounding
  auto evaluate = [&](double h) {
    Vector x = at;
    x(i) += h;
    try {
      return f(x);
    } catch (const std::exception&) {
      return std::numeric_limits<double>::quiet_NaN();
    }
  };
  double best = std::numeric_limits<double>::quiet_NaN();
  double best_error = std::numeric_limits<double>::infinity();
  std::vector<double> previous;  // a row of the tableau: order 2, 4, 6, … at one step
  double h = 0.1 * std::max(1.0, std::abs(at(i)));
  for (int step = 0; step < steps; ++step, h *= 0.5) {
    const double up = evaluate(h), down = evaluate(-h);
    std::vector<double> row{(up - down) / (2.0 * h)};
    if (!std::isfinite(row[0])) {
      previous.clear();
      continue;
    }
    const double rounding =
        std::numeric_limits<double>::epsilon() * std::max(std::abs(up), std::abs(down)) / h;
    double power = 1.0, row_error = std::numeric_limits<double>::infinity();
    for (std::size_t k = 0; k < std::min(previous.size(), orders); ++k) {
      power *= 4.0;
      row.push_back(row[k] + (row[k] - previous[k]) / (power - 1.0));
      const double error =
          std::max({std::abs(row[k + 1] - row[k]), std::abs(row[k + 1] - previous[k]), rounding});
      row_error = std::min(row_error, error);
      if (error < best_error) {
        best_error = error;
        best = row[k + 1];
      }
    }
    const double scale = std::max(1.0, std::abs(best));
    if (best_error <= 1e-10 * scale || (best_error <= 1e-6 * scale && row_error > 4.0 * best_error))
      break;
    previous = row;
  }
  return best;
}

inline Vector finite_difference_gradient(const ScalarFunction& f, const Vector& at) {
  Vector g(at.size());
  for (Index i = 0; i < at.size(); ++i) g(i) = central_difference(f, at, i);
  return g;
}

// ‖g − g_fd‖∞ / max(1, ‖g‖∞); infinite when sizes differ or a difference cannot be taken.
inline double gradient_error(const ScalarFunction& f, const Vector& g, const Vector& at) {
  if (g.size() != at.size()) return std::numeric_limits<double>::infinity();
  if (at.size() == 0) return 0.0;
  const Vector difference = g - finite_difference_gradient(f, at);
  if (!difference.allFinite()) return std::numeric_limits<double>::infinity();
  return difference.cwiseAbs().maxCoeff() / std::max(1.0, g.cwiseAbs().maxCoeff());
}

inline void expect_gradient(const ScalarFunction& f, const Vector& g, const Vector& x,
                            double tolerance = 1e-6) {
  const double error = gradient_error(f, g, x);
  EXPECT_LE(error, tolerance) << "gradient given:  " << g.transpose() << "\nby differences:  "
                              << finite_difference_gradient(f, x).transpose()
                              << "\nat x =           " << x.transpose();
}

}  // namespace covary
