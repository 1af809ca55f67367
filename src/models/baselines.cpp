#include "covary/models/baselines.hpp"

#include <fmt/format.h>

#include <cmath>

#include "covary/data/labels.hpp"
#include "covary/error.hpp"

namespace covary {

MeanPredictor::MeanPredictor(ConstVector y) : mean_(0), variance_(0) {
  double count = 0;
  for (Index i = 0; i < y.size(); ++i) {
    if (std::isinf(y[i]))
      throw InputError(fmt::format("y is {} at row {}; targets are finite or NaN", y[i], i));
    if (std::isnan(y[i])) continue;
    count += 1;
    mean_ += y[i];
  }
  if (count == 0)
    throw InputError(
        fmt::format("none of the {} targets has a value to take the mean of", y.size()));
  mean_ /= count;
  for (const double v : y)
    if (!std::isnan(v)) variance_ += (v - mean_) * (v - mean_) / count;
}

MeanVariance MeanPredictor::predict(Index rows) const {
  return {Vector::Constant(rows, mean_), Vector::Constant(rows, variance_)};
}

MajorityPredictor::MajorityPredictor(ConstVector labels, Index classes) {
  const auto counts = class_counts(labels, classes);
  shares_.resize(classes);
  double rows = 0;
  for (Index k = 0; k < classes; ++k) {
    const auto count = static_cast<double>(counts[static_cast<std::size_t>(k)]);
    shares_[k] = count + 1 / static_cast<double>(classes);
    rows += count;
  }
  if (rows == 0)
    throw InputError(fmt::format("none of the {} rows has a label to count", labels.size()));
  shares_ /= rows + 1;
}

RowMatrix MajorityPredictor::predict(Index rows) const {
  return shares_.transpose().replicate(rows, 1);
}

}  // namespace covary
