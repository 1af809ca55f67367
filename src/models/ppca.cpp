#include "covary/models/ppca.hpp"

#include <fmt/format.h>

#include <cmath>
#include <numbers>

#include "covary/error.hpp"
#include "covary/linalg/blas.hpp"
#include "covary/linalg/cholesky.hpp"

namespace covary {
namespace {

const double log_two_pi = std::log(2.0 * std::numbers::pi);

void check(ConstRows Y, Index latent) {
  if (latent < 1)
    throw InputError(fmt::format("the latent space needs at least one dimension, got {}", latent));
  for (Index i = 0; i < Y.rows(); ++i)
    for (Index p = 0; p < Y.cols(); ++p)
      if (std::isnan(Y(i, p)))
        throw InputError(
            fmt::format("the output of row {}, column {} is missing; probabilistic principal "
                        "components have a closed form for whole rows only: drop such rows, or use "
                        "a GP-LVM with a linear kernel",
                        i, p));
}

// One component more than asked for has to be there: it is the noise.
Pca components(ConstRows Y, Index latent) {
  try {
    return Pca::fit(Y, latent + 1);
  } catch (const InputError& e) {
    throw InputError(
        fmt::format("{} latent dimensions leave no direction for the noise ({}); ask for fewer",
                    latent, e.what()));
  }
}

// log N of rows × columns with the eigenvalues `kept` of the covariance and `rest` times the noise,
// at the maximum of the likelihood, where the quadratic form is what it is on average.
double log_likelihood(double times, const Vector& kept, double rest, double noise) {
  const double size = static_cast<double>(kept.size()) + rest;
  return -0.5 * times *
         (size * (log_two_pi + 1.0) + kept.array().log().sum() + rest * std::log(noise));
}

// x given some cells of a row: N(M⁻¹W_oᵀr, σ²M⁻¹) with M = W_oᵀW_o + σ²I.
struct Observed {
  std::vector<Index> cells;
  Matrix W;
  Cholesky M;

  Observed(const Matrix& all, std::vector<Index> seen, double noise) : cells(std::move(seen)) {
    W = all(cells, Eigen::all);
    const Index Q = all.cols();
    Matrix m = noise * Matrix::Identity(Q, Q);
    syrk(1.0, W, Op::transpose, 1.0, m);
    M = cholesky(std::move(m), "WᵀW + σ²I");
  }
};

std::vector<Index> seen_cells(ConstVector y) {
  std::vector<Index> out;
  for (Index p = 0; p < y.size(); ++p)
    if (!std::isnan(y(p))) out.push_back(p);
  return out;
}

}  // namespace

PpcaFit fit_ppca(ConstRows Y, Index latent, ScaleMode scale_outputs) {
  check(Y, latent);
  PpcaFit out;
  out.scaling = fit_scaling(Y, scale_outputs).scaling;
  const RowMatrix scaled = out.scaling.apply(Y);
  const auto N = static_cast<double>(Y.rows()), rest = static_cast<double>(Y.cols() - latent);
  out.pca = components(scaled, latent).first(latent);
  out.noise_variance = (out.pca.total_variance - out.pca.variances.sum()) / rest;
  out.value =
      log_likelihood(N, out.pca.variances, rest, out.noise_variance) - out.scaling.log_jacobian(Y);
  out.summary.objective = "log_likelihood";
  out.summary.value = out.summary.initial_value = out.value;
  out.summary.converged = true;
  out.summary.stop = Stop::converged;
  out.summary.reason = out.summary.route = "closed form";
  out.parameters.add({"likelihood.variance", Vector::Constant(1, out.noise_variance),
                      Transform::positive(), 1, 1, std::nullopt, false});
  out.mean = out.pca.transform(scaled);
  const Vector& lambda = out.pca.variances;
  out.mean.array().rowwise() *=
      ((lambda.array() - out.noise_variance).sqrt() / lambda.array()).transpose();
  for (Index p = 0; p < Y.cols(); ++p) out.output_names.push_back(fmt::format("y{}", p));
  return out;
}

Matrix PpcaFit::W() const {
  Matrix out = pca.components;
  out.array().rowwise() *= (pca.variances.array() - noise_variance).sqrt().transpose();
  return out;
}

PpcaFit::Inferred PpcaFit::infer(ConstRows Y) const {
  if (Y.cols() != outputs())
    throw InputError(fmt::format("the rows have {} outputs, the model {}", Y.cols(), outputs()));
  const Index n = Y.rows(), Q = latent(), P = outputs();
  const RowMatrix scaled = scaling.apply(Y).rowwise() - pca.mean.transpose();
  const Matrix weights = W();
  Inferred out{RowMatrix(n, Q),
               RowMatrix(n, Q),
               {RowMatrix(n, P), RowMatrix(n, P), RowMatrix(n, P)},
               Vector(n)};
  std::optional<Observed> last;
  Matrix covariance;  // of x, of the pattern of cells at hand
  Vector spread;      // of W·x, P
  for (Index i = 0; i < n; ++i) {
    const Vector row = scaled.row(i);
    std::vector<Index> seen = seen_cells(row);
    if (!last || seen != last->cells) {
      last.emplace(weights, std::move(seen), noise_variance);
      covariance = noise_variance * last->M.inverse();
      spread = product(weights, covariance).cwiseProduct(weights).rowwise().sum();
    }
    const Vector r = row(last->cells), projected = multiply(last->W, r, Op::transpose);
    const Vector x = last->M.solve(projected);
    const auto cells = static_cast<double>(r.size());
    double log_scale = 0.0;
    for (const Index p : last->cells) log_scale += std::log(scaling.scale(p));
    out.mean.row(i) = x;
    out.variance.row(i) = covariance.diagonal();
    out.outputs.mean.row(i) = multiply(weights, x) + pca.mean;
    out.outputs.variance_f.row(i) = spread;
    out.log_density(i) =
        -0.5 *
            (cells * log_two_pi + (cells - static_cast<double>(Q)) * std::log(noise_variance) +
             last->M.log_determinant() + (r.squaredNorm() - dot(projected, x)) / noise_variance) -
        log_scale;
  }
  out.outputs.variance_y = out.outputs.variance_f.array() + noise_variance;
  out.outputs.mean = scaling.undo(out.outputs.mean);
  out.outputs.variance_f = scaling.undo_variance(out.outputs.variance_f);
  out.outputs.variance_y = scaling.undo_variance(out.outputs.variance_y);
  return out;
}

Prediction PpcaFit::decode(ConstRows X) const {
  if (X.cols() != latent())
    throw InputError(
        fmt::format("the points have {} dimensions, the latent space {}", X.cols(), latent()));
  const RowMatrix mean_y =
      RowMatrix(product(Matrix(X), W(), Op::none, Op::transpose)).rowwise() + pca.mean.transpose();
  const RowMatrix zero = RowMatrix::Zero(X.rows(), outputs());
  return {scaling.undo(mean_y), zero, scaling.undo_variance(zero.array() + noise_variance)};
}

DualPpca fit_dual_ppca(ConstRows Y, Index latent) {
  check(Y, latent);
  const auto N = static_cast<double>(Y.rows()), P = static_cast<double>(Y.cols());
  const double rest = N - static_cast<double>(latent);
  const Pca pca = components(Y, latent).first(latent);
  // The singular values are the same: YᵀY/N here, YYᵀ/P there.
  const Vector lambda = pca.variances * (N / P);
  DualPpca out;
  out.noise_variance = (pca.total_variance * (N / P) - lambda.sum()) / rest;
  out.X = pca.transform(Y);
  out.X.array().rowwise() *=
      ((lambda.array() - out.noise_variance) / (N * pca.variances.array())).sqrt().transpose();
  out.log_likelihood = log_likelihood(P, lambda, rest, out.noise_variance);
  return out;
}

}  // namespace covary
