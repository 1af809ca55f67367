#include "covary/inference/rows_posterior.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "covary/error.hpp"
#include "covary/linalg/blas.hpp"

namespace covary {
namespace {

constexpr Index block = 512;  // rows predicted at a time

}  // namespace

void RowsPosterior::check_inputs(ConstRows X) const {
  if (X.cols() != dims())
    throw InputError(fmt::format(
        "the model was trained on {} input columns, the new inputs have {}", dims(), X.cols()));
  for (Index i = 0; i < X.rows(); ++i)
    for (Index d = 0; d < X.cols(); ++d)
      if (!std::isfinite(X(i, d)))
        throw InputError(fmt::format(
            "input row {}, column {} is {}; predictions need finite inputs", i, d, X(i, d)));
}

void RowsPosterior::check_function(Index function) const {
  if (function < 0 || function >= functions())
    throw InputError(fmt::format("there is no output {}, the model has {}", function, functions()));
}

std::vector<ComponentPrediction> RowsPosterior::components(ConstRows X) const {
  check_inputs(X);
  const Index n = X.rows(), F = functions();
  const std::vector<RowFunctions> all = by_rows();
  const auto terms = kernel().terms(dims());
  std::vector<ComponentPrediction> out;
  for (std::size_t t = 0; t < terms.size(); ++t) {
    ComponentPrediction part{Kernel(terms[t].node).print(), RowMatrix(n, F), RowMatrix(n, F)};
    for (Index first = 0; first < n; first += block) {
      const Index size = std::min(block, n - first);
      const auto rows = X.middleRows(first, size);
      for (const RowFunctions& g : all) {
        const auto term = g.kernel.terms(dims())[t];
        const Kernel k(term.node);
        const Vector theta = g.theta.segment(term.offset, k.parameter_count(dims()));
        Matrix V = cross(k, theta, g.X, rows);
        const Matrix mean = product(V, g.alpha, Op::transpose);
        const Vector variance =
            (diagonal(k, theta, rows) - g.reduction(std::move(V))).cwiseMax(0.0);
        for (std::size_t c = 0; c < g.columns.size(); ++c) {
          part.mean.col(g.columns[c]).segment(first, size) = mean.col(static_cast<Index>(c));
          part.variance.col(g.columns[c]).segment(first, size) = variance;
        }
      }
    }
    out.push_back(std::move(part));
  }
  return out;
}

PredictionGradient RowsPosterior::gradient(ConstRows X, Index function) const {
  check_inputs(X);
  check_function(function);
  const Index n = X.rows(), D = dims();
  PredictionGradient out{RowMatrix::Zero(n, D), RowMatrix::Zero(n, D)};
  if (!mean().is_zero()) out.mean = mean().gradient(X, mean_weights(function));
  for (const RowFunctions& g : by_rows()) {
    const auto at = std::find(g.columns.begin(), g.columns.end(), function);
    if (at == g.columns.end()) continue;
    Vector unused = Vector::Zero(g.theta.size());
    const KernelNode& k = g.kernel.node();
    // mean = k(x, X)·α, variance = k(x, x) − k(x, X)·R·k(X, x): the cross block's weights are α and
    // −2R·k(X, x).
    const Matrix by_mean = g.alpha.col(at - g.columns.begin()).transpose().replicate(n, 1);
    cross_pullback(k, g.theta.data(), X, g.X, by_mean, unused, &out.mean, nullptr);
    const Matrix V = g.apply(cross(g.kernel, g.theta, g.X, X));
    cross_pullback(k, g.theta.data(), X, g.X, -2.0 * V.transpose(), unused, &out.variance, nullptr);
    diagonal_pullback(k, g.theta.data(), X, Vector::Ones(n), unused, &out.variance);
  }
  return out;
}

}  // namespace covary
