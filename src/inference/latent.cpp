#include "covary/inference/latent.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "covary/error.hpp"
#include "covary/linalg/blas.hpp"
#include "inference/latent_problem.hpp"

namespace covary {
namespace {

constexpr Index block = 512;  // new rows predicted at a time

void expect_size(const char* what, Index expected, Index got) {
  if (expected != got)
    throw InputError(fmt::format("{} has {} entries, expected {}", what, got, expected));
}

std::vector<Index> observed_rows(ConstVector y) {
  std::vector<Index> rows;
  for (Index n = 0; n < y.size(); ++n)
    if (!std::isnan(y(n))) rows.push_back(n);
  if (rows.empty())
    throw InputError(fmt::format("none of the {} targets is observed; there is no data", y.size()));
  return rows;
}

}  // namespace

LatentPosterior::Marginals LatentPosterior::predict(ConstRows X_new) const {
  const Index n = X_new.rows();
  if (X_new.cols() != X.cols())
    throw InputError(
        fmt::format("new inputs have {} columns, the model has {}", X_new.cols(), X.cols()));
  Marginals out{Vector::Zero(n), diagonal(kernel, parameters.kernel, X_new)};
  if (!mean.is_zero()) out.mean = multiply(mean.basis(X_new), parameters.mean_weights);
  for (Index first = 0; first < n; first += block) {
    const Index size = std::min(block, n - first);
    const Matrix k = cross(kernel, parameters.kernel, X, X_new.middleRows(first, size));
    out.mean.segment(first, size) += multiply(k, alpha, Op::transpose);
    out.variance.segment(first, size) -= factor.reduction(k);
  }
  out.variance = out.variance.cwiseMax(0.0);
  return out;
}

LatentProblem::LatentProblem(const LatentModel& of, const LatentParameters& at, Inference method)
    : model(of), parameters(at) {
  const Index N = of.X.rows(), D = of.X.cols();
  of.likelihood.require(method);
  static_cast<void>(of.likelihood.one_latent());  // refuses several latent functions
  expect_size("y", N, of.y.size());
  if (of.aux.size() != 0) expect_size("the column beside y", N, of.aux.size());
  if (!of.X.allFinite()) throw InputError("X has values that are not finite; drop those rows");
  expect_size("the vector of kernel parameters", of.kernel.parameter_count(D), at.kernel.size());
  expect_size("the vector of likelihood parameters", of.likelihood.parameter_count(),
              at.likelihood.size());
  expect_size("the vector of mean weights", of.mean.basis_count(D), at.mean_weights.size());
  of.likelihood.check(of.y, of.aux);
  const std::vector<Index> rows = observed_rows(of.y);
  X = of.X(rows, Eigen::all);
  y = of.y(rows);
  if (of.aux.size() != 0) aux = of.aux(rows);
  m = of.mean.is_zero() ? Vector::Zero(y.size()) : multiply(of.mean.basis(X), at.mean_weights);
  K = gram(of.kernel, at.kernel, X);
}

LatentApproximation LatentProblem::approximation(Vector alpha, Vector lambda, SiteFactor factor,
                                                 Vector variance) const {
  LatentApproximation out;
  out.mean = m + multiply(K, alpha);
  out.variance = std::move(variance);
  out.posterior = {model.kernel,     model.mean,        parameters,       X,
                   std::move(alpha), std::move(lambda), std::move(factor)};
  return out;
}

void LatentProblem::pullback(const LatentPosterior& q, const Matrix& R, ConstVector u,
                             LatentParameters& out) const {
  Vector m_bar = q.alpha;
  if (u.size() != 0) m_bar += u;
  // ½(alpha·alphaᵀ + u·alphaᵀ + alpha·uᵀ) = ½(alpha·hᵀ + h·alphaᵀ), h = ½alpha + u
  const Vector h = m_bar - 0.5 * q.alpha;
  const Vector& a = q.alpha;
  const auto weights = [&](Index i, Index ni, Index j, Index nj, double* tile) {
    for (Index c = 0; c < nj; ++c)
      for (Index r = 0; r < ni; ++r)
        tile[c * ni + r] = 0.5 * (a(i + r) * h(j + c) + h(i + r) * a(j + c) - R(i + r, j + c));
  };
  out.kernel = Vector::Zero(parameters.kernel.size());
  gram_pullback(model.kernel.node(), parameters.kernel.data(), X, weights, out.kernel);
  out.mean_weights =
      model.mean.is_zero() ? Vector(0) : multiply(model.mean.basis(X), m_bar, Op::transpose);
}

}  // namespace covary
