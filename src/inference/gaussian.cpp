#include "covary/inference/gaussian.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "covary/error.hpp"
#include "covary/linalg/blas.hpp"
#include "covary/linalg/cholesky.hpp"
#include "covary/random/random.hpp"

namespace covary {
namespace {

void check(const Gaussian& g, const std::vector<Index>& variables) {
  if (g.covariance.rows() != g.size() || g.covariance.cols() != g.size())
    throw InputError(fmt::format("the covariance is {}×{}, the mean has {} entries",
                                 g.covariance.rows(), g.covariance.cols(), g.size()));
  std::vector<Index> sorted = variables;
  std::sort(sorted.begin(), sorted.end());
  for (std::size_t i = 0; i < sorted.size(); ++i) {
    if (sorted[i] < 0 || sorted[i] >= g.size())
      throw InputError(
          fmt::format("there is no variable {}, they are 0 … {}", sorted[i], g.size() - 1));
    if (i > 0 && sorted[i] == sorted[i - 1])
      throw InputError(fmt::format("variable {} is named twice", sorted[i]));
  }
}

}  // namespace

Gaussian marginal(const Gaussian& g, const std::vector<Index>& variables) {
  check(g, variables);
  return {g.mean(variables), g.covariance(variables, variables)};
}

Gaussian condition(const Gaussian& g, const std::vector<Index>& variables, ConstVector values) {
  check(g, variables);
  if (values.size() != static_cast<Index>(variables.size()))
    throw InputError(fmt::format("{} variables are fixed but {} values were given",
                                 variables.size(), values.size()));
  std::vector<Index> rest;
  for (Index i = 0; i < g.size(); ++i)
    if (!std::count(variables.begin(), variables.end(), i)) rest.push_back(i);
  const Cholesky S22 =
      cholesky(g.covariance(variables, variables), "the covariance of the fixed variables");
  Matrix V = g.covariance(variables, rest);  // L⁻¹S₂₁
  solve_lower(S22.L, V);
  Matrix r = values - g.mean(variables);
  solve_lower(S22.L, r);
  Gaussian out{g.mean(rest) + multiply(V, r.col(0), Op::transpose), g.covariance(rest, rest)};
  syrk(-1.0, V, Op::transpose, 1.0, out.covariance);
  mirror_lower(out.covariance);
  out.covariance.diagonal() = out.covariance.diagonal().cwiseMax(0.0);
  return out;
}

Matrix sample(const Gaussian& g, Index draws, std::uint64_t seed) {
  check(g, {});
  if (draws < 1)
    throw InputError(fmt::format("the number of draws must be at least 1, got {}", draws));
  Random random(seed);
  Matrix out(g.size(), draws);
  for (Index s = 0; s < draws; ++s) out.col(s) = random.normal_vector(g.size());
  multiply_lower(cholesky(g.covariance, "the covariance").L, out);
  out.colwise() += g.mean;
  return out;
}

double log_density(const Gaussian& g, ConstVector x) {
  check(g, {});
  if (x.size() != g.size())
    throw InputError(fmt::format("x has {} entries, the Gaussian {}", x.size(), g.size()));
  const Cholesky factor = cholesky(g.covariance, "the covariance");
  Matrix r = x - g.mean;
  solve_lower(factor.L, r);
  return -0.5 * (r.squaredNorm() + factor.log_determinant() +
                 static_cast<double>(g.size()) * 1.83787706640934548356);
}

std::vector<std::pair<Index, Index>> factor_graph_edges(const Gaussian& g, double tolerance) {
  check(g, {});
  const Matrix precision = cholesky(g.covariance, "the covariance").inverse();
  std::vector<std::pair<Index, Index>> edges;
  for (Index i = 0; i < g.size(); ++i)
    for (Index j = i + 1; j < g.size(); ++j)
      if (std::abs(precision(i, j)) > tolerance * std::sqrt(precision(i, i) * precision(j, j)))
        edges.emplace_back(i, j);
  return edges;
}

Vector model_posterior(ConstVector log_evidence, ConstVector prior) {
  if (prior.size() && prior.size() != log_evidence.size())
    throw InputError(
        fmt::format("{} models but {} prior weights", log_evidence.size(), prior.size()));
  for (Index i = 0; i < prior.size(); ++i)
    if (!(prior(i) >= 0.0)) throw InputError(fmt::format("prior weight {} is {}", i, prior(i)));
  if (log_evidence.size() == 0) throw InputError("there are no models to compare");
  Vector a = log_evidence;
  if (prior.size()) a.array() += prior.array().log();
  const Vector weight = (a.array() - a.maxCoeff()).exp();
  return weight / weight.sum();
}

}  // namespace covary
