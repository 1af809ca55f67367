#include "covary/inference/function_model.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "covary/error.hpp"
#include "covary/linalg/blas.hpp"
#include "inference/function_problem.hpp"

namespace covary {
namespace {

constexpr Index block = 512;  // new rows predicted at a time

}  // namespace

void expect_size(const char* what, Index expected, Index got) {
  if (expected != got)
    throw InputError(fmt::format("{} has {} entries, expected {}", what, got, expected));
}

ObservedRows observed_rows(const Likelihood& likelihood, ConstRows X, ConstVector y,
                           ConstVector aux, ConstVector weights) {
  expect_size("y", X.rows(), y.size());
  if (aux.size() != 0) expect_size("the column beside y", X.rows(), aux.size());
  if (!X.allFinite()) throw InputError("X has values that are not finite; drop those rows");
  likelihood.check(y, aux);
  if (weights.size() != 0) {
    expect_size("the column of weights", X.rows(), weights.size());
    if (!weights.allFinite() || weights.minCoeff() < 0.0)
      throw InputError("the weights of the rows must be finite and not negative");
  }
  std::vector<Index> rows;
  for (Index n = 0; n < y.size(); ++n)
    if (!std::isnan(y(n)) && (weights.size() == 0 || weights(n) > 0.0)) rows.push_back(n);
  if (rows.empty())
    throw InputError(fmt::format("none of the {} targets is observed; there is no data", y.size()));
  ObservedRows out{X(rows, Eigen::all), y(rows), {}, {}};
  if (aux.size() != 0) out.aux = aux(rows);
  if (weights.size() != 0) out.weights = weights(rows);
  return out;
}

void refuse_weights(const FunctionModel& model) {
  if (model.weights.size() != 0)
    throw Unsupported(
        "EP takes no weights of the rows; repeat the rows, or use laplace, vgp or svgp");
}

FunctionMarginals FunctionPosterior::predict(ConstRows X_new) const {
  const Index n = X_new.rows();
  if (X_new.cols() != X.cols())
    throw InputError(
        fmt::format("new inputs have {} columns, the model has {}", X_new.cols(), X.cols()));
  FunctionMarginals out{Matrix::Zero(n, 1), diagonal(kernel, parameters.kernel, X_new)};
  if (!mean.is_zero()) out.mean = multiply(mean.basis(X_new), parameters.mean_weights);
  for (Index first = 0; first < n; first += block) {
    const Index size = std::min(block, n - first);
    const Matrix k = cross(kernel, parameters.kernel, X, X_new.middleRows(first, size));
    out.mean.col(0).segment(first, size) += multiply(k, alpha, Op::transpose);
    out.variance.col(0).segment(first, size) -= factor.reduction(k);
  }
  out.variance = out.variance.cwiseMax(0.0);
  return out;
}

FunctionProblem::FunctionProblem(const FunctionModel& of, const FunctionParameters& at,
                                 Inference method)
    : model(of), parameters(at) {
  const Index D = of.X.cols();
  of.likelihood.require(method);
  if (method == Inference::ep) refuse_weights(of);
  static_cast<void>(of.likelihood.one_function());  // refuses several latent functions
  expect_size("the vector of kernel parameters", of.kernel.parameter_count(D), at.kernel.size());
  expect_size("the vector of likelihood parameters", of.likelihood.parameter_count(),
              at.likelihood.size());
  expect_size("the vector of mean weights", of.mean.basis_count(D), at.mean_weights.size());
  ObservedRows rows = observed_rows(of.likelihood, of.X, of.y, of.aux, of.weights);
  X = std::move(rows.X);
  y = std::move(rows.y);
  aux = std::move(rows.aux);
  weights = std::move(rows.weights);
  m = of.mean.is_zero() ? Vector::Zero(y.size()) : multiply(of.mean.basis(X), at.mean_weights);
  K = gram(of.kernel, at.kernel, X);
}

std::vector<Taylor> FunctionProblem::terms(const Vector& f) const {
  std::vector<Taylor> out = log_densities(model.likelihood, parameters.likelihood, y, f, aux);
  if (weights.size() != 0)
    for (Index n = 0; n < size(); ++n) {
      Taylor& t = out[static_cast<std::size_t>(n)];
      for (double* v : {&t.value, &t.first, &t.second, &t.third}) *v *= weights(n);
    }
  return out;
}

FunctionApproximation FunctionProblem::approximation(Vector alpha, Vector lambda, SiteFactor factor,
                                                     Vector variance) const {
  FunctionApproximation out;
  out.mean = m + multiply(K, alpha);
  out.variance = std::move(variance);
  out.posterior = {model.kernel,     model.mean,        parameters,       X,
                   std::move(alpha), std::move(lambda), std::move(factor)};
  return out;
}

void FunctionProblem::pullback(const FunctionPosterior& q, const Matrix& R, ConstVector u,
                               FunctionParameters& out) const {
  Vector m_bar = q.alpha;
  if (u.size() != 0) m_bar += u;
  // ½(alpha·alphaᵀ + u·alphaᵀ + alpha·uᵀ) = ½(alpha·hᵀ + h·alphaᵀ), h = ½alpha + u
  const Vector h = m_bar - 0.5 * q.alpha;
  const Vector& a = q.alpha;
  const auto K_bar = [&](Index i, Index ni, Index j, Index nj, double* tile) {
    for (Index c = 0; c < nj; ++c)
      for (Index r = 0; r < ni; ++r)
        tile[c * ni + r] = 0.5 * (a(i + r) * h(j + c) + h(i + r) * a(j + c) - R(i + r, j + c));
  };
  out.kernel = Vector::Zero(parameters.kernel.size());
  gram_pullback(model.kernel.node(), parameters.kernel.data(), X, K_bar, out.kernel);
  out.mean_weights =
      model.mean.is_zero() ? Vector(0) : multiply(model.mean.basis(X), m_bar, Op::transpose);
}

}  // namespace covary
