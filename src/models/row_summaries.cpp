#include "models/row_summaries.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

#include "covary/error.hpp"
#include "covary/features/selection.hpp"
#include "covary/random/random.hpp"
#include "covary/statistics/sweep.hpp"

namespace covary {
namespace {

using Rows = Eigen::Map<const RowMatrix, 0, Eigen::OuterStride<>>;

// In order, body(first row, X, Y, weight of row i of the block).
template <class Body>
void for_each_block(const RowSource& rows, const Body& body) {
  Sweep(rows, 4096).for_each_block([&](const DataBlock& b) {
    body(b.x.first, Rows(b.x.data, b.x.n, b.x.dims, Eigen::OuterStride<>(b.x.stride)),
         Rows(b.y, b.x.n, b.outputs, Eigen::OuterStride<>(b.outputs)),
         [&b](Index i) { return b.weights ? b.weights[i] : 1.0; });
  });
}

// Of each output, over its observed entries.
struct Sums {
  Vector count, sum;
};

template <class Weight>
void add_observed(const Rows& Y, const Weight& weight, Sums& to) {
  for (Index i = 0; i < Y.rows(); ++i)
    for (Index p = 0; p < Y.cols(); ++p)
      if (!std::isnan(Y(i, p))) to.sum(p) += weight(i) * Y(i, p), to.count(p) += weight(i);
}

void check_outputs(const std::string& name, Index first, const Rows& Y) {
  for (Index i = 0; i < Y.rows(); ++i)
    if (Y.row(i).array().isInf().any())
      throw InputError(fmt::format(
          "'{}' has an infinite output in row {}; drop such rows, or write NaN to model "
          "them as missing",
          name, first + i));
}

Vector means_of(const Sums& y) { return y.sum.array() / y.count.array().max(1.0); }

}  // namespace

Vector column_means(const RowSource& rows) {
  Sums y{Vector::Zero(rows.outputs()), Vector::Zero(rows.outputs())};
  for_each_block(rows, [&](Index, const Rows&, const Rows& Y, const auto& weight) {
    add_observed(Y, weight, y);
  });
  return means_of(y);
}

DataScale data_scale(const RowSource& rows) {
  constexpr double inf = std::numeric_limits<double>::infinity();
  const Index D = rows.dims(), P = rows.outputs();
  double total = 0.0;
  Vector sum = Vector::Zero(D), low = Vector::Constant(D, inf), high = Vector::Constant(D, -inf);
  Sums y{Vector::Zero(P), Vector::Zero(P)};
  for_each_block(rows, [&](Index, const Rows& X, const Rows& Y, const auto& weight) {
    for (Index i = 0; i < X.rows(); ++i) {
      total += weight(i);
      sum += weight(i) * X.row(i).transpose();
      low = low.cwiseMin(X.row(i).transpose());
      high = high.cwiseMax(X.row(i).transpose());
    }
    add_observed(Y, weight, y);
  });
  const Vector x_mean = sum / total, y_mean = means_of(y);
  Vector x_squares = Vector::Zero(D), y_squares = Vector::Zero(P), raw = Vector::Zero(P);
  for_each_block(rows, [&](Index, const Rows& X, const Rows& Y, const auto& weight) {
    for (Index i = 0; i < X.rows(); ++i) {
      x_squares.array() += weight(i) * (X.row(i).transpose() - x_mean).array().square();
      for (Index p = 0; p < P; ++p)
        if (!std::isnan(Y(i, p))) {
          y_squares(p) += weight(i) * ((Y(i, p) - y_mean(p)) * (Y(i, p) - y_mean(p)));
          raw(p) += weight(i) * (Y(i, p) * Y(i, p));
        }
    }
  });
  DataScale out = DataScale::unit(D);
  for (Index d = 0; d < D; ++d) {
    const double sd = std::sqrt(x_squares(d) / total);
    if (rows.rows() > 1 && sd > 1e-12 * std::abs(x_mean(d))) {
      out.x_sd(d) = sd;
      out.x_range(d) = high(d) - low(d);
    }
  }
  // A constant target has no spread: its size stands in, then one.
  const double count = y.count.sum(), size = raw.sum() / count;
  out.y_variance = y_squares.sum() / count;
  if (!(out.y_variance > 1e-20 * size)) out.y_variance = size > 0.0 ? size : 1.0;
  return out;
}

double noise_only_evidence(const RowSource& rows) {
  const Index P = rows.outputs();
  Vector squares = Vector::Zero(P), count = Vector::Zero(P);
  for_each_block(rows, [&](Index, const Rows&, const Rows& Y, const auto&) {
    for (Index i = 0; i < Y.rows(); ++i)
      for (Index p = 0; p < P; ++p)
        if (!std::isnan(Y(i, p))) squares(p) += Y(i, p) * Y(i, p), count(p) += 1.0;
  });
  double sum = 0.0;
  for (Index p = 0; p < P; ++p)
    if (squares(p) > 0.0)
      sum -= 0.5 * count(p) * (std::log(2.0 * std::numbers::pi * squares(p) / count(p)) + 1.0);
  return sum;
}

ScaledData scaled_data(FileRows& rows, ScaleMode input_mode, ScaleMode output_mode, Index sample,
                       std::uint64_t seed) {
  const Index N = rows.rows(), D = rows.dims(), P = rows.outputs();
  rows.set_scaling(Scaling::identity(D), Scaling::identity(P));
  // Inputs and outputs side by side, so that the file is read once for both.
  const ColumnMoments all = column_moments(D + P, [&](const auto& visit) {
    for_each_block(rows, [&](Index first, const Rows& X, const Rows& Y, const auto&) {
      check_outputs(rows.name(), first, Y);
      RowMatrix both(X.rows(), D + P);
      both << X, Y;
      visit(both);
    });
  });
  auto inputs = fit_scaling({all.count.head(D), all.mean.head(D), all.sd.head(D)}, input_mode);
  auto outputs = fit_scaling({all.count.tail(P), all.mean.tail(P), all.sd.tail(P)}, output_mode);
  ScaledData out;
  for (const auto& w : inputs.warnings) out.warnings.push_back("inputs: " + w);
  for (const auto& w : outputs.warnings) out.warnings.push_back("outputs: " + w);
  out.inputs = std::move(inputs.scaling);
  out.outputs = std::move(outputs.scaling);
  out.log_jacobian = (all.count.tail(P).array() * out.outputs.scale.array().log()).sum();
  rows.set_scaling(out.inputs, out.outputs);

  const auto chosen = sample_rows(N, std::min(N, sample), Random(seed, 0xf11e));
  out.X.resize(static_cast<Index>(chosen.size()), D);
  out.Y.resize(static_cast<Index>(chosen.size()), P);
  Index at = 0;
  for_each_block(rows, [&](Index first, const Rows& X, const Rows& Y, const auto&) {
    for (; at < out.X.rows() && chosen[static_cast<std::size_t>(at)] < first + X.rows(); ++at) {
      const Index i = chosen[static_cast<std::size_t>(at)] - first;
      out.X.row(at) = X.row(i);
      out.Y.row(at) = Y.row(i);
    }
  });
  return out;
}

}  // namespace covary
