#include "models/row_summaries.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <utility>

#include "covary/error.hpp"
#include "covary/features/selection.hpp"
#include "covary/random/random.hpp"
#include "covary/statistics/sweep.hpp"

namespace covary {
namespace {

using Rows = Eigen::Map<const RowMatrix, 0, Eigen::OuterStride<>>;

constexpr Index width = 4096;  // rows of a block

Rows inputs_of(const DataBlock& b) {
  return {b.x.data, b.x.n, b.x.dims, Eigen::OuterStride<>(b.x.stride)};
}
Rows outputs_of(const DataBlock& b) {
  return {b.y, b.x.n, b.outputs, Eigen::OuterStride<>(b.outputs)};
}
auto weights_of(const DataBlock& b) {
  return [&b](Index i) { return b.weights ? b.weights[i] : 1.0; };
}

// Σ over the rows, by the sweep: body(X, Y, weight of row i of the block, sum).
template <class Body>
Vector sum_over(const RowSource& rows, Index size, const Body& body) {
  return Sweep(rows, width).sum(size, [&]() -> Sweep::Body {
    return [&](const DataBlock& b, double* sum) {
      body(inputs_of(b), outputs_of(b), weights_of(b), sum);
    };
  });
}

// Of each output, over its observed entries: how many, then their sum.
template <class Weight>
void add_observed(const Rows& Y, const Weight& weight, double* to) {
  for (Index i = 0; i < Y.rows(); ++i)
    for (Index p = 0; p < Y.cols(); ++p)
      if (!std::isnan(Y(i, p))) to[Y.cols() + p] += weight(i) * Y(i, p), to[p] += weight(i);
}
Vector means_of(ConstVector observed) {
  const Index P = observed.size() / 2;
  return observed.tail(P).array() / observed.head(P).array().max(1.0);
}

void check_outputs(const std::string& name, Index first, const Rows& Y) {
  for (Index i = 0; i < Y.rows(); ++i)
    if (Y.row(i).array().isInf().any())
      throw InputError(fmt::format(
          "'{}' has an infinite output in row {}; drop such rows, or write NaN to model "
          "them as missing",
          name, first + i));
}

}  // namespace

Vector column_means(const RowSource& rows) {
  return means_of(sum_over(rows, 2 * rows.outputs(),
                           [](const Rows&, const Rows& Y, const auto& weight, double* sum) {
                             add_observed(Y, weight, sum);
                           }));
}

DataScale data_scale(const RowSource& rows) {
  constexpr double inf = std::numeric_limits<double>::infinity();
  const Index D = rows.dims(), P = rows.outputs();
  // Of each lane: the weight, Σ x, the outputs' sums, x at its least and its largest, and whether
  // it has begun.
  const Matrix lanes = Sweep(rows, width).of_lanes(2 + 3 * D + 2 * P, [&]() -> Sweep::Body {
    return [&](const DataBlock& b, double* sum) {
      const Rows X = inputs_of(b);
      const auto weight = weights_of(b);
      Eigen::Map<Vector> x(sum + 1, D), low(sum + 1 + D + 2 * P, D), high(low.data() + D, D);
      if (double& begun = sum[1 + 3 * D + 2 * P]; std::exchange(begun, 1.0) == 0.0) {
        low.setConstant(inf);
        high.setConstant(-inf);
      }
      for (Index i = 0; i < X.rows(); ++i) {
        sum[0] += weight(i);
        x += weight(i) * X.row(i).transpose();
        low = low.cwiseMin(X.row(i).transpose());
        high = high.cwiseMax(X.row(i).transpose());
      }
      add_observed(outputs_of(b), weight, sum + 1 + D);
    };
  });
  Vector sums = lanes.col(0).head(1 + D + 2 * P);
  for (Index lane = 1; lane < lanes.cols(); ++lane) sums += lanes.col(lane).head(sums.size());
  const Vector low = lanes.middleRows(sums.size(), D).rowwise().minCoeff(),
               high = lanes.middleRows(sums.size() + D, D).rowwise().maxCoeff();
  const double total = sums(0);
  const Vector x_mean = sums.segment(1, D) / total, y_mean = means_of(sums.tail(2 * P));
  const Vector squares =
      sum_over(rows, D + 2 * P, [&](const Rows& X, const Rows& Y, const auto& weight, double* sum) {
        Eigen::Map<Vector> x(sum, D);
        double *about = sum + D, *raw = about + P;
        for (Index i = 0; i < X.rows(); ++i) {
          x.array() += weight(i) * (X.row(i).transpose() - x_mean).array().square();
          for (Index p = 0; p < P; ++p)
            if (!std::isnan(Y(i, p))) {
              about[p] += weight(i) * ((Y(i, p) - y_mean(p)) * (Y(i, p) - y_mean(p)));
              raw[p] += weight(i) * (Y(i, p) * Y(i, p));
            }
        }
      });
  const Vector x_squares = squares.head(D);
  DataScale out = DataScale::unit(D);
  for (Index d = 0; d < D; ++d) {
    const double sd = std::sqrt(x_squares(d) / total);
    if (rows.rows() > 1 && sd > 1e-12 * std::abs(x_mean(d))) {
      out.x_sd(d) = sd;
      out.x_range(d) = high(d) - low(d);
    }
  }
  // A constant target has no spread: its size stands in, then one.
  const double count = sums.segment(1 + D, P).sum(), size = squares.tail(P).sum() / count;
  out.y_variance = squares.segment(D, P).sum() / count;
  if (!(out.y_variance > 1e-20 * size)) out.y_variance = size > 0.0 ? size : 1.0;
  return out;
}

double noise_only_evidence(const RowSource& rows) {
  const Index P = rows.outputs();
  const Vector sums =
      sum_over(rows, 2 * P, [P](const Rows&, const Rows& Y, const auto&, double* sum) {
        for (Index i = 0; i < Y.rows(); ++i)
          for (Index p = 0; p < P; ++p)
            if (!std::isnan(Y(i, p))) sum[p] += Y(i, p) * Y(i, p), sum[P + p] += 1.0;
      });
  const Vector squares = sums.head(P), count = sums.tail(P);
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
    Sweep(rows, width).for_each_block([&](const DataBlock& b) {
      check_outputs(rows.name(), b.x.first, outputs_of(b));
      RowMatrix both(b.x.n, D + P);
      both << inputs_of(b), outputs_of(b);
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
  Sweep::Rows some = Sweep(rows, width).gather(chosen);
  out.X = std::move(some.X);
  out.Y = std::move(some.Y);
  return out;
}

}  // namespace covary
