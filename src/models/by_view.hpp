#pragma once

#include <fmt/format.h>

#include <vector>

#include "covary/error.hpp"
#include "covary/inference/posterior.hpp"

// What the fits of latent-variable models do for each of their views, whichever posterior the
// mappings have.
namespace covary {

// Rows of outputs split into the views and scaled.
template <class Fit>
std::vector<RowMatrix> rows_by_view(const Fit& fit, ConstRows Y) {
  if (Y.cols() != fit.outputs())
    throw InputError(
        fmt::format("the rows have {} outputs, the model {}", Y.cols(), fit.outputs()));
  std::vector<RowMatrix> out;
  out.reserve(fit.mappings.size());
  for (const auto& m : fit.mappings)
    out.push_back(m.scaling.apply(RowMatrix(Y(Eigen::all, m.view.columns))));
  return out;
}

template <class Fit>
Index outputs_of_views(const Fit& fit) {
  Index n = 0;
  for (const auto& m : fit.mappings) n += static_cast<Index>(m.view.columns.size());
  return n;
}

// The outputs at n points, by predict(posterior) of each view, in the units of the data.
template <class Fit, class Predict>
Prediction decode_by_view(const Fit& fit, Index n, const Predict& predict) {
  Prediction out{RowMatrix(n, fit.outputs()), RowMatrix(n, fit.outputs()),
                 RowMatrix(n, fit.outputs())};
  for (const auto& m : fit.mappings) {
    const Prediction p = predict(m.posterior);
    out.mean(Eigen::all, m.view.columns) = m.scaling.undo(p.mean);
    out.variance_f(Eigen::all, m.view.columns) = m.scaling.undo_variance(p.variance_f);
    out.variance_y(Eigen::all, m.view.columns) = m.scaling.undo_variance(p.variance_y);
  }
  return out;
}

template <class Fit>
std::vector<RowMatrix> sample_by_view(const Fit& fit, ConstRows X, Index draws,
                                      std::uint64_t seed) {
  std::vector<RowMatrix> out(static_cast<std::size_t>(draws), RowMatrix(X.rows(), fit.outputs()));
  for (const auto& m : fit.mappings) {
    const auto f = m.posterior.sample(X, draws, seed++);
    for (std::size_t s = 0; s < out.size(); ++s)
      out[s](Eigen::all, m.view.columns) = m.scaling.undo(f[s]);
  }
  return out;
}

}  // namespace covary
