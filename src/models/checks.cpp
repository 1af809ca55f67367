#include "models/checks.hpp"

#include <fmt/format.h>

#include <cmath>

#include "covary/error.hpp"

namespace covary {
namespace {

// "X has 3 non-finite values, the first at row 17, column 2"
void check_finite(ConstRows A, const char* name, bool allow_nan, const char* way_out) {
  Index bad = 0, row = 0, col = 0;
  for (Index i = A.rows() - 1; i >= 0; --i)
    for (Index j = A.cols() - 1; j >= 0; --j)
      if (allow_nan ? std::isinf(A(i, j)) : !std::isfinite(A(i, j))) ++bad, row = i, col = j;
  if (bad)
    throw InputError(fmt::format("{} has {} non-finite value{}, the first at row {}, column {}; {}",
                                 name, bad, bad == 1 ? "" : "s", row, col, way_out));
}

// Over what is observed of each column.
ColumnMoments moments_of_observed(ConstRows A, ConstVector weights) {
  const Index D = A.cols();
  ColumnMoments out{Vector::Zero(D), Vector::Zero(D), Vector::Zero(D)};
  for (Index j = 0; j < D; ++j) {
    const auto over = [&](const auto& of) {
      double sum = 0.0;
      for (Index i = 0; i < A.rows(); ++i)
        if (!std::isnan(A(i, j))) sum += weights(i) * of(A(i, j));
      return sum;
    };
    const double total = over([](double) { return 1.0; });
    if (!(total > 0.0))
      throw InputError(
          fmt::format("output column {} has no observed value in a row of positive weight", j));
    out.count(j) = total;
    out.mean(j) = over([](double v) { return v; }) / total;
    out.sd(j) = std::sqrt(over([&](double v) { return std::pow(v - out.mean(j), 2); }) / total);
  }
  return out;
}

ColumnMoments weighted_moments(ConstRows A, ConstVector weights) {
  if (A.array().isNaN().any()) return moments_of_observed(A, weights);
  const double total = weights.sum();
  ColumnMoments out{Vector::Constant(A.cols(), total), {}, {}};
  out.mean = (A.array().colwise() * weights.array()).colwise().sum().transpose() / total;
  const RowMatrix centred = A.rowwise() - out.mean.transpose();
  const Vector squares =
      (centred.array().square().colwise() * weights.array()).colwise().sum().transpose();
  out.sd = (squares / total).cwiseSqrt();
  return out;
}

}  // namespace

void check_regression_data(ConstRows X, ConstRows Y, ConstVector point_noise) {
  if (X.rows() == 0 || X.cols() == 0)
    throw InputError(fmt::format("X is empty ({}×{}); a fit needs at least one row and one column",
                                 X.rows(), X.cols()));
  if (Y.rows() != X.rows() || Y.cols() == 0)
    throw InputError(
        fmt::format("X has {} rows but Y is {}×{}; they need one row for each observation",
                    X.rows(), Y.rows(), Y.cols()));
  check_finite(X, "X", false, "drop those rows or fill them in");
  check_finite(Y, "Y", true, "drop those rows, or write NaN to model them as missing");
  for (Index p = 0; p < Y.cols(); ++p)
    if (Y.col(p).array().isNaN().all())
      throw InputError(fmt::format("output column {} has no observed value; leave it out", p));
  if (point_noise.size() && point_noise.size() != X.rows())
    throw InputError(
        fmt::format("noise was given for {} rows, X has {}", point_noise.size(), X.rows()));
  for (Index i = 0; i < point_noise.size(); ++i)
    if (!(point_noise(i) >= 0.0) || !std::isfinite(point_noise(i)))
      throw InputError(
          fmt::format("the noise variance of row {} is {}; variances are finite and not negative",
                      i, point_noise(i)));
}

ScaledData scaled_data(ConstRows X, ConstRows Y, ConstVector point_noise, ScaleMode input_mode,
                       ScaleMode output_mode, ConstVector weights) {
  check_regression_data(X, Y, point_noise);
  if (point_noise.size() && Y.cols() > 1 && output_mode == ScaleMode::columns)
    output_mode = ScaleMode::global;
  const auto fitted = [&](ConstRows A, ScaleMode mode) {
    return weights.size() ? fit_scaling(weighted_moments(A, weights), mode) : fit_scaling(A, mode);
  };
  auto inputs = fitted(X, input_mode);
  auto outputs = fitted(Y, output_mode);
  ScaledData out;
  for (const auto& w : inputs.warnings) out.warnings.push_back("inputs: " + w);
  for (const auto& w : outputs.warnings) out.warnings.push_back("outputs: " + w);
  out.inputs = std::move(inputs.scaling);
  out.outputs = std::move(outputs.scaling);
  out.X = out.inputs.apply(X);
  out.Y = out.outputs.apply(Y);
  out.log_jacobian =
      !weights.size() ? out.outputs.log_jacobian(Y)
      : Y.array().isNaN().any()
          ? out.outputs.scale.array().log().matrix().dot(moments_of_observed(Y, weights).count)
          : weights.sum() * out.outputs.scale.array().log().sum();
  if (point_noise.size()) {
    const double s = out.outputs.scale(0);
    out.point_noise = point_noise / (s * s);
  }
  return out;
}

}  // namespace covary
