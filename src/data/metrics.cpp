#include "covary/data/metrics.hpp"

#include <fmt/format.h>

#include <cmath>
#include <numbers>

#include "covary/error.hpp"
#include "covary/linalg/special.hpp"

namespace covary {
namespace {

// The targets that count, with their predictions.
struct Pairs {
  Vector y, mean, variance;  // variance is empty for point predictions
  Index size() const { return y.size(); }
};

void check_finite(double value, const char* what, Index row) {
  if (!std::isfinite(value))
    throw InputError(fmt::format("the {} at row {} is {}; it must be finite", what, row, value));
}

void check_length(Index found, Index expected, const char* what) {
  if (found != expected)
    throw InputError(fmt::format("there are {} targets but {} {}", expected, found, what));
}

Pairs observed(ConstVector y, ConstVector mean, const Vector* variance) {
  check_length(mean.size(), y.size(), "predictions");
  if (variance) check_length(variance->size(), y.size(), "variances");
  Pairs pairs{Vector(y.size()), Vector(y.size()), Vector(variance ? y.size() : 0)};
  Index count = 0;
  for (Index i = 0; i < y.size(); ++i) {
    if (std::isnan(y[i])) continue;
    check_finite(y[i], "target", i);
    check_finite(mean[i], "prediction", i);
    if (variance) {
      check_finite((*variance)[i], "variance", i);
      if ((*variance)[i] <= 0)
        throw InputError(
            fmt::format("the variance at row {} is {}; it must be positive", i, (*variance)[i]));
      pairs.variance[count] = (*variance)[i];
    }
    pairs.y[count] = y[i];
    pairs.mean[count] = mean[i];
    ++count;
  }
  if (count == 0)
    throw InputError(fmt::format("none of the {} targets has a value to compare with", y.size()));
  pairs.y.conservativeResize(count);
  pairs.mean.conservativeResize(count);
  if (variance) pairs.variance.conservativeResize(count);
  return pairs;
}

Pairs gaussian(ConstVector y, ConstVector mean, ConstVector variance) {
  const Vector copy = variance;
  return observed(y, mean, &copy);
}

Vector standardised(const Pairs& p) { return (p.y - p.mean).array() / p.variance.array().sqrt(); }

}  // namespace

double rmse(ConstVector y, ConstVector mean) {
  const Pairs p = observed(y, mean, nullptr);
  return std::sqrt((p.y - p.mean).array().square().mean());
}

double mae(ConstVector y, ConstVector mean) {
  const Pairs p = observed(y, mean, nullptr);
  return (p.y - p.mean).array().abs().mean();
}

double smse(ConstVector y, ConstVector mean) {
  const Pairs p = observed(y, mean, nullptr);
  if (p.y.maxCoeff() == p.y.minCoeff())
    throw InputError(
        fmt::format("all {} targets are {}: their variance is 0 and SMSE has no value; use RMSE",
                    p.size(), p.y[0]));
  const double variance = (p.y.array() - p.y.mean()).square().mean();
  return (p.y - p.mean).array().square().mean() / variance;
}

double nlpd(ConstVector y, ConstVector mean, ConstVector variance) {
  const Pairs p = gaussian(y, mean, variance);
  const Vector z = standardised(p);
  return 0.5 * (std::log(2 * std::numbers::pi) + p.variance.array().log().mean() +
                z.array().square().mean());
}

double crps(ConstVector y, ConstVector mean, ConstVector variance) {
  const Pairs p = gaussian(y, mean, variance);
  const Vector z = standardised(p);
  double total = 0;
  for (Index i = 0; i < p.size(); ++i)
    total += std::sqrt(p.variance[i]) * (z[i] * std::erf(z[i] / std::numbers::sqrt2) +
                                         2 * normal_pdf(z[i]) - std::numbers::inv_sqrtpi);
  return total / static_cast<double>(p.size());
}

double coverage(ConstVector y, ConstVector mean, ConstVector variance, double level) {
  if (!(level > 0 && level < 1))
    throw InputError(fmt::format("the coverage level is {}; it must lie between 0 and 1", level));
  const Vector z = standardised(gaussian(y, mean, variance));
  Index within = 0;  // the interval |z| ≤ q holds probability erf(q/√2)
  for (double value : z) within += std::erf(std::abs(value) / std::numbers::sqrt2) <= level;
  return static_cast<double>(within) / static_cast<double>(z.size());
}

Vector pit(ConstVector y, ConstVector mean, ConstVector variance) {
  const Vector z = standardised(gaussian(y, mean, variance));
  return z.unaryExpr([](double value) { return normal_cdf(value); });
}

}  // namespace covary
