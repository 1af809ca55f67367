#pragma once

#include <fmt/format.h>

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "covary/error.hpp"
#include "covary/models/memory.hpp"
#include "models/table_answers.hpp"

namespace covary {

// What the GP-LVMs, of points and of distributions, answer alike.

inline std::vector<std::string> names_in(const LatentView& view,
                                         const std::vector<std::string>& names) {
  std::vector<std::string> out;
  out.reserve(view.columns.size());
  for (const Index p : view.columns) out.push_back(names[static_cast<std::size_t>(p)]);
  return out;
}

// The times of the rows, if the model has dynamics and the table has them.
template <class LatentFit>
std::optional<RowMatrix> times_in(const Table& table, const LatentFit& fit) {
  if (!fit.dynamics || !has_columns(table, fit.time_names)) return std::nullopt;
  return columns_of(table, fit.time_names);
}

// Latent inputs and outputs of the rows of a table, whose cells may be missing; of a dynamical
// model also at times without outputs, and of any at points x0, x1, … of the latent space. `place`
// finds the means and variances of the latent inputs of rows of outputs.
template <class LatentFit, class Place>
NamedColumns predict_outputs(const LatentFit& fit, const Table& table, const TableQuestion& q,
                             const Place& place) {
  const bool has_outputs = has_columns(table, fit.output_names);
  RowMatrix mean, variance;
  if (const auto points = latent_points(table, fit.latent()); !has_outputs && points) {
    q.say("the table has points of the latent space and no outputs: decoding them");
    mean = *points;
    variance = RowMatrix::Zero(mean.rows(), mean.cols());
  } else if (!has_outputs && fit.dynamics) {
    q.say("the table has no outputs: forecasting at its times, after the last sequence");
    const auto sequences = static_cast<Index>(fit.dynamics->options().sequences.size());
    const LatentMarginals ahead = fit.forecast(columns_of(table, fit.time_names), sequences - 1);
    mean = ahead.mean;
    variance = ahead.variance;
  } else {
    std::tie(mean, variance) = place(outputs_of(fit, table));
  }
  const Prediction p = variance.isZero(0.0) ? fit.decode(mean) : fit.decode(mean, variance);
  return latent_columns(mean, variance, p, fit.output_names);
}

// Joint draws of the outputs at points of the latent space.
template <class LatentFit>
NamedColumns sample_outputs(const LatentFit& fit, const Table& table, const TableQuestion& q) {
  const auto points = latent_points(table, fit.latent());
  if (!points)
    throw InputError(fmt::format(
        "a latent-variable model is sampled at points of its latent space: the table needs "
        "columns x0 to x{}, as covary predict writes them",
        fit.latent() - 1));
  const auto n = static_cast<double>(points->rows());
  require_memory(16.0 * n * n, points->rows(),
                 fmt::format("a joint draw at {} rows", points->rows()));
  std::vector<std::string> suffixes;
  for (const auto& name : fit.output_names) suffixes.push_back("_" + name);
  return named_draws(fit.sample(*points, q.draws, q.seed), suffixes);
}

}  // namespace covary
