#include "inference/informative_vectors.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "covary/error.hpp"
#include "covary/linalg/blas.hpp"
#include "covary/linalg/parallel.hpp"
#include "inference/function_problem.hpp"

namespace covary {
namespace {

constexpr Index block = 32;  // rows of a task

}  // namespace

InformativeVectors informative_vectors(const FunctionModel& model, const FunctionParameters& at,
                                       Index M) {
  const Index D = model.X.cols();
  model.likelihood.require(Inference::sparse_ep);
  refuse_weights(model);
  if (M < 1)
    throw InputError(fmt::format("the number of inducing inputs is {}; it must be positive", M));
  expect_size("the vector of kernel parameters", model.kernel.parameter_count(D), at.kernel.size());
  expect_size("the vector of likelihood parameters", model.likelihood.parameter_count(),
              at.likelihood.size());
  expect_size("the vector of mean weights", model.mean.basis_count(D), at.mean_weights.size());
  const ObservedRows rows = observed_rows(model.likelihood, model.X, model.y, model.aux);
  const Index N = rows.y.size();
  std::vector<Index> number;  // of each observed row in X
  for (Index n = 0; n < model.y.size(); ++n)
    if (!std::isnan(model.y(n))) number.push_back(n);

  // q(f) at the rows: covariance K − VᵀV, a row of V for each site.
  Vector mean =
      model.mean.is_zero() ? Vector::Zero(N) : multiply(model.mean.basis(rows.X), at.mean_weights);
  Vector variance = diagonal(model.kernel, at.kernel, rows.X);
  const Index most = std::min(M, N);
  Matrix V(N, most);  // transposed, so that a new row is a column
  std::vector<Tilted> tilted(static_cast<std::size_t>(N));
  Vector gain(N);
  std::vector<bool> taken(static_cast<std::size_t>(N), false);  // it, or a row like it
  InformativeVectors out{RowMatrix(most, D), {}, Vector(most)};
  const double aux = model.likelihood.node().default_aux();
  for (Index m = 0; m < most; ++m) {
    parallel_for((N + block - 1) / block, [&](Index b) {
      for (Index n = b * block; n < std::min(N, (b + 1) * block); ++n) {
        const auto i = static_cast<std::size_t>(n);
        gain(n) = -std::numeric_limits<double>::infinity();
        if (taken[i] || !(variance(n) > 0.0)) continue;
        tilted[i] = tilted_moments(
            model.likelihood,
            {rows.y(n), rows.aux.size() != 0 ? rows.aux(n) : aux, at.likelihood.data()}, 1.0,
            mean(n), variance(n));
        const double kept = 1.0 + variance(n) * tilted[i].second;
        if (kept > 0.0 && kept < 1.0) gain(n) = -0.5 * std::log(kept);
      }
    });
    Index best = 0;
    for (Index n = 1; n < N; ++n)
      if (gain(n) > gain(best)) best = n;
    if (!(gain(best) > 0.0)) break;
    const Tilted& t = tilted[static_cast<std::size_t>(best)];
    // cov(f, f_best) under q; the row's own white noise is in its variance alone
    Vector s = cross(model.kernel, at.kernel, rows.X, rows.X.middleRows(best, 1)).col(0);
    s -= multiply(V.leftCols(m), V.row(best).head(m).transpose());
    s(best) = variance(best);
    mean += t.first * s;
    V.col(m) = std::sqrt(-t.second) * s;
    variance = (variance - V.col(m).cwiseAbs2()).cwiseMax(0.0).eval();
    out.Z.row(m) = rows.X.row(best);
    out.rows.push_back(number[static_cast<std::size_t>(best)]);
    out.gains(m) = gain(best);
    for (Index n = 0; n < N; ++n)
      if (rows.X.row(n) == rows.X.row(best)) taken[static_cast<std::size_t>(n)] = true;
  }
  const auto chosen = static_cast<Index>(out.rows.size());
  out.Z.conservativeResize(chosen, D);
  out.gains.conservativeResize(chosen);
  return out;
}

}  // namespace covary
