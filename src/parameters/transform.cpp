#include "covary/parameters/transform.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "covary/error.hpp"
#include "covary/linalg/parallel.hpp"
#include "covary/linalg/special.hpp"
#include "covary/linalg/vector_math.hpp"

namespace covary {
namespace {

// Entry k of a row-by-row lower triangle is on the diagonal when k + 1 is a triangular number.
bool on_diagonal(Index k) {
  const auto row = static_cast<Index>((std::sqrt(8.0 * static_cast<double>(k) + 1.0) - 1.0) / 2.0);
  return row * (row + 3) / 2 == k;
}

// The least number above x. Far out a transform is flat and would reach the end of its range, which
// is not in it: values stay inside, so that what was made can be read back.
double above(double x) { return std::nextafter(x, std::numeric_limits<double>::infinity()); }
double below(double x) { return std::nextafter(x, -std::numeric_limits<double>::infinity()); }
constexpr double smallest = std::numeric_limits<double>::min();
double positive_softplus(double u) { return std::max(softplus(u), smallest); }

void check_positive(double x, double floor, const std::string& what) {
  if (!(x > floor) || !std::isfinite(x))
    throw InputError(fmt::format("{} must be finite and above {}, got {}", what, floor, x));
}

}  // namespace

Transform Transform::real() { return {Kind::real, 0.0, 0.0}; }

Transform Transform::positive(double scale, double floor) {
  if (!(scale > 0.0) || !std::isfinite(scale) || !(floor >= 0.0) || !std::isfinite(floor))
    throw InputError(fmt::format(
        "a positive transform needs scale > 0 and floor ≥ 0, got {} and {}", scale, floor));
  return {Kind::positive, floor, scale};
}

Transform Transform::bounded(double low, double high) {
  if (!(low < high) || !std::isfinite(low) || !std::isfinite(high))
    throw InputError(fmt::format("bounds must be finite with low < high, got {}, {}", low, high));
  return {Kind::bounded, low, high};
}

Transform Transform::lower_triangular() { return {Kind::lower_triangular, 0.0, 1.0}; }
Transform Transform::ordered() { return {Kind::ordered, 0.0, 1.0}; }

Vector Transform::constrain(ConstVector u) const {
  Vector x = u;
  switch (kind_) {
    case Kind::real:
      break;
    case Kind::positive:
      parallel_ranges(x.size(), [&, least = above(low_)](Index first, Index end) {
        vector_softplus(u.data() + first, x.data() + first, end - first);
        for (Index k = first; k < end; ++k)
          x(k) = std::max(low_ + high_ * std::max(x(k), smallest), least);
      });
      break;
    case Kind::bounded:
      for (auto& v : x)
        v = std::clamp(low_ + (high_ - low_) * sigmoid(v), above(low_), below(high_));
      break;
    case Kind::lower_triangular:
      for (Index k = 0; k < x.size(); ++k)
        if (on_diagonal(k)) x(k) = positive_softplus(x(k));
      break;
    case Kind::ordered:
      for (Index k = 1; k < x.size(); ++k)
        x(k) = std::max(x(k - 1) + softplus(u(k)), above(x(k - 1)));
      break;
  }
  return x;
}

Vector Transform::unconstrain(ConstVector x, const std::string& what) const {
  Vector u = x;
  if (kind_ == Kind::real || kind_ == Kind::lower_triangular || kind_ == Kind::ordered)
    for (Index k = 0; k < x.size(); ++k)
      if (!std::isfinite(x(k)))
        throw InputError(fmt::format("{} must be finite, got {}", what, x(k)));
  switch (kind_) {
    case Kind::real:
      break;
    case Kind::positive:
      for (auto& v : u) {
        check_positive(v, low_, what);
        v = inverse_softplus((v - low_) / high_);
      }
      break;
    case Kind::bounded:
      for (auto& v : u) {
        if (!(v > low_ && v < high_))
          throw InputError(
              fmt::format("{} must lie between {} and {}, got {}", what, low_, high_, v));
        v = std::log((v - low_) / (high_ - v));
      }
      break;
    case Kind::lower_triangular:
      for (Index k = 0; k < u.size(); ++k)
        if (on_diagonal(k)) {
          check_positive(u(k), 0.0, what + " (diagonal)");
          u(k) = inverse_softplus(u(k));
        }
      break;
    case Kind::ordered:
      for (Index k = 1; k < u.size(); ++k) {
        if (!(x(k) > x(k - 1)))
          throw InputError(fmt::format("{} must increase, but entry {} is {} after {}", what, k,
                                       x(k), x(k - 1)));
        u(k) = inverse_softplus(x(k) - x(k - 1));
      }
      break;
  }
  return u;
}

Vector Transform::pullback(ConstVector u, ConstVector x_bar) const {
  Vector g = x_bar;
  switch (kind_) {
    case Kind::real:
      break;
    case Kind::positive:
      parallel_ranges(g.size(), [&](Index first, Index end) {
        vector_sigmoid(u.data() + first, g.data() + first, end - first);
        for (Index k = first; k < end; ++k) g(k) *= high_ * x_bar(k);
      });
      break;
    case Kind::bounded:
      for (Index k = 0; k < g.size(); ++k) g(k) *= (high_ - low_) * sigmoid(u(k)) * sigmoid(-u(k));
      break;
    case Kind::lower_triangular:
      for (Index k = 0; k < g.size(); ++k)
        if (on_diagonal(k)) g(k) *= sigmoid(u(k));
      break;
    case Kind::ordered: {
      double later = 0.0;  // x_k and all after it move with u_k
      for (Index k = g.size() - 1; k >= 0; --k) {
        later += x_bar(k);
        g(k) = k == 0 ? later : later * sigmoid(u(k));
      }
      break;
    }
  }
  return g;
}

std::string Transform::describe() const {
  switch (kind_) {
    case Kind::real:
      return "real";
    case Kind::positive:
      return "positive";
    case Kind::bounded:
      return fmt::format("({:g}, {:g})", low_, high_);
    case Kind::lower_triangular:
      return "lower-triangular";
    case Kind::ordered:
      return "ordered";
  }
  return "";
}

}  // namespace covary
