#include "features/warnings.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numbers>

namespace covary {

Index rows_outside(ConstRows X, const Vector& low, const Vector& high) {
  Index count = 0;
  for (const auto& row : X.rowwise()) {
    bool out = false;
    for (Index d = 0; d < X.cols(); ++d) out = out || row(d) < low(d) || row(d) > high(d);
    count += out;
  }
  return count;
}

void warn_of_interval(double a, double b, ConstRows X, const std::string& how,
                      std::vector<std::string>& out) {
  const Index rows = rows_outside(X, Vector::Constant(1, a), Vector::Constant(1, b));
  if (rows > 0)
    out.push_back(
        fmt::format("{} of {} rows lie outside the features' interval from {:.4g} to {:.4g}; the "
                    "features are constant there: {}",
                    rows, X.rows(), a, b, how));
}

// The limit is π over the mean distance of rows in a column.
void warn_of_nyquist(const Vector& largest, ConstRows X, std::vector<std::string>& out) {
  for (Index d = 0; d < X.cols(); ++d) {
    const double range = X.col(d).maxCoeff() - X.col(d).minCoeff();
    if (!(range > 0.0)) continue;
    const double limit = std::numbers::pi * static_cast<double>(X.rows() - 1) / range;
    if (largest(d) > limit)
      out.push_back(fmt::format(
          "frequencies up to {:.4g} in input column {} are beyond {:.4g}, the Nyquist frequency of "
          "{} rows over its range: the data cannot tell them from lower ones; take fewer features "
          "or a longer lengthscale",
          largest(d), d, limit, X.rows()));
  }
}

std::vector<Index> rows_to_ask(ConstRows X) {
  constexpr Index many = 2000;
  const Index step = std::max<Index>(1, X.rows() / many);
  std::vector<Index> out;
  for (Index i = 0; i < X.rows(); i += step) out.push_back(i);
  for (Index d = 0; d < X.cols(); ++d) {
    Index low = 0, high = 0;
    X.col(d).minCoeff(&low);
    X.col(d).maxCoeff(&high);
    out.push_back(low);
    out.push_back(high);
  }
  return out;
}

}  // namespace covary
