#include "map_rows.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "covary/data/split.hpp"
#include "covary/linalg/blas.hpp"
#include "covary/linalg/cholesky.hpp"
#include "latent_support.hpp"
#include "small.hpp"
#include "sparse_support.hpp"

namespace covary::experiments {
namespace {

constexpr Index train_iterations = 200, place_iterations = 500;

void say_trained(const std::string& name, const MapGplvmFit& fit) {
  progress(fmt::format("{}: log p(Y | X) {:.1f}, log p(X) {:.1f} after {} iterations and {:.0f} s",
                       name, fit.value, fit.log_prior, fit.summary.iterations,
                       fit.summary.seconds));
}

// Σ log p(y | x) of the observed cells of rows, in model units, with ∂/∂X unless null.
class RowDensities {
 public:
  RowDensities(const MapGplvmFit::Mapping& mapping, RowMatrix Y)
      : parts_(mapping.posterior.parts()), Y_(std::move(Y)) {
    Matrix K = gram(parts_.kernel, parts_.theta, parts_.X);
    K.diagonal().array() += parts_.noise_variance;
    factor_ = cholesky(std::move(K), "the covariance of y");
    alpha_ = factor_.solve(Matrix(parts_.Y));
  }

  double at(const RowMatrix& X, RowMatrix* X_bar) const {
    const Index n = X.rows();
    const Matrix k = cross(parts_.kernel, parts_.theta, parts_.X, X);  // N×n
    Matrix reduced = k;
    solve_lower(factor_.L, reduced);
    const Vector reduction = reduced.colwise().squaredNorm();
    const Vector variance =
        (diagonal(parts_.kernel, parts_.theta, X) - reduction).array().max(0.0) +
        parts_.noise_variance;
    const Matrix mean = product(k, alpha_, Op::transpose);
    Matrix mean_bar = Matrix::Zero(n, Y_.cols());
    Vector variance_bar = Vector::Zero(n);
    double value = 0.0;
    for (Index i = 0; i < n; ++i)
      for (Index p = 0; p < Y_.cols(); ++p) {
        const double away = Y_(i, p) - mean(i, p);
        if (std::isnan(away)) continue;
        value -= 0.5 * (away * away / variance(i) + std::log(variance(i)));
        mean_bar(i, p) = away / variance(i);
        variance_bar(i) += 0.5 * (away * away / variance(i) - 1.0) / variance(i);
      }
    if (!X_bar) return value;
    solve_lower(factor_.L, reduced, Op::transpose);
    Matrix k_bar = product(mean_bar, alpha_, Op::none, Op::transpose);  // n×N
    k_bar -= (reduced * (2.0 * variance_bar).asDiagonal()).transpose();
    Vector unused = Vector::Zero(parts_.theta.size());
    cross_pullback(parts_.kernel.node(), parts_.theta.data(), X, parts_.X, k_bar, unused, X_bar,
                   nullptr);
    diagonal_pullback(parts_.kernel.node(), parts_.theta.data(), X, variance_bar, unused, X_bar);
    return value;
  }

 private:
  const ExactPosteriorParts& parts_;
  RowMatrix Y_;
  Cholesky factor_;
  Matrix alpha_;
};

}  // namespace

MapGplvmFit train_map_dynamical(const RowMatrix& Y, const RowMatrix& times,
                                const std::vector<Index>& sequences, Index latent, Index every,
                                std::uint64_t seed) {
  MapGplvmOptions o;
  o.latent = latent;
  o.seed = seed;
  o.training.max_iterations = few(train_iterations, 3);
  std::vector<Index> rows;
  for (std::size_t s = 0; s < sequences.size(); ++s) {
    o.sequences.push_back(static_cast<Index>(rows.size()));
    const Index end = s + 1 < sequences.size() ? sequences[s + 1] : Y.rows();
    for (Index i = sequences[s]; i < end; i += every) rows.push_back(i);
  }
  o.times = take_rows(times, rows);
  MapGplvmFit fit = MapGplvm(take_rows(Y, rows), o).fit();
  say_trained(fmt::format("MAP GP-LVM with dynamics, {} dimensions, {} rows", latent, rows.size()),
              fit);
  return fit;
}

RowMatrix map_dynamical_completion(const MapGplvmFit& fit, const RowMatrix& Y,
                                   const RowMatrix& times) {
  const Index n = Y.rows(), Q = fit.latent();
  const MapGplvmFit::Mapping& mapping = fit.mappings.front();
  const RowMatrix scaled = mapping.scaling.apply(Y);
  const RowDensities densities(mapping, scaled);
  const Cholesky prior =
      cholesky(gram(fit.dynamics->options().kernel, fit.dynamics_theta, times), "the dynamics");
  // Whitened, the dynamics are N(0, I).
  Matrix start(n, Q);
  for (Index i = 0; i < n; ++i) {
    const RowMatrix away = mapping.posterior.parts().Y.rowwise() - scaled.row(i);
    Index nearest = 0;
    away.array().isNaN().select(0.0, away).rowwise().squaredNorm().minCoeff(&nearest);
    start.row(i) = fit.X.row(nearest);
  }
  solve_lower(prior.L, start);
  const auto inputs = [&](const Vector& u) {
    Matrix X = Eigen::Map<const Matrix>(u.data(), n, Q);
    multiply_lower(prior.L, X);
    return RowMatrix(X);
  };
  const Objective f = [&](const Vector& u, Vector* gradient) -> std::optional<double> {
    RowMatrix X_bar = RowMatrix::Zero(n, Q);
    const double value = densities.at(inputs(u), gradient ? &X_bar : nullptr);
    if (gradient) {
      Matrix bar = X_bar;
      multiply_lower(prior.L, bar, Op::transpose);
      *gradient = u - Eigen::Map<const Vector>(bar.data(), bar.size());
    }
    return 0.5 * u.squaredNorm() - value;
  };
  LbfgsOptions options;
  options.max_iterations = few(place_iterations, 3);
  const Minimum found = minimise(f, Eigen::Map<const Vector>(start.data(), start.size()), options);
  return fit.decode(inputs(found.state.u)).mean;
}

RowMatrix shared_gplvm_poses(const RowMatrix& poses, const RowMatrix& silhouettes,
                             const RowMatrix& test_silhouettes, Index latent, std::uint64_t seed) {
  const Index P = poses.cols(), S = silhouettes.cols(), n = test_silhouettes.rows();
  RowMatrix Y(poses.rows(), P + S), seen(n, P + S);
  Y << poses, silhouettes;
  seen << RowMatrix::Constant(n, P, std::nan("")), test_silhouettes;
  MapGplvmOptions o;
  o.latent = latent;
  o.views = {{"pose", columns_between(0, P)}, {"silhouette", columns_between(P, P + S)}};
  o.seed = seed;
  o.training.max_iterations = few(train_iterations, 3);
  const MapGplvmFit fit = MapGplvm(Y, o).fit();
  say_trained(fmt::format("shared GP-LVM, {} dimensions", latent), fit);
  return fit.decode(fit.place(seen, few(200, 2)).X).mean.leftCols(P);
}

}  // namespace covary::experiments
