#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "covary/error.hpp"
#include "covary/inference/uncertain_inputs.hpp"
#include "covary/linalg/blas.hpp"
#include "covary/linalg/parallel.hpp"
#include "covary/models/map_gplvm.hpp"
#include "models/by_view.hpp"

namespace covary {
namespace {

constexpr double log_2pi = 1.83787706640934548356;

// Outputs of one view that were observed in the same rows: with k = k(X, x) the mean is alphaᵀk and
// the variance k(x, x) − kᵀ(K + σ²I)⁻¹k.
struct Outputs {
  std::size_t view;
  std::vector<Index> columns;
  Kernel kernel;
  Vector theta;
  RowMatrix X;
  double noise;
  Cholesky factor;
  Matrix alpha;
};

std::vector<Outputs> outputs_of(const MapGplvmFit& fit) {
  std::vector<Outputs> out;
  for (std::size_t v = 0; v < fit.mappings.size(); ++v) {
    const ExactPosteriorParts& parts = fit.mappings[v].posterior.parts();
    for (const Pattern& pattern : missing_patterns(Matrix(parts.Y))) {
      Outputs o{v,
                pattern.columns,
                parts.kernel,
                parts.theta,
                parts.X(pattern.rows, Eigen::all),
                parts.noise_variance,
                {},
                {}};
      Matrix K = gram(o.kernel, o.theta, o.X);
      K.diagonal().array() += o.noise;
      Jitter jitter{parts.jitter};
      o.factor = cholesky(std::move(K), jitter, "the covariance of y");
      o.alpha = o.factor.solve(Matrix(parts.Y(pattern.rows, pattern.columns)));
      out.push_back(std::move(o));
    }
  }
  return out;
}

// log p(y | x) of the observed cells among some outputs; adds ∂/∂x unless null.
double log_density(const Outputs& o, const RowMatrix& x, const double* y, RowMatrix* x_bar) {
  const Matrix k = cross(o.kernel, o.theta, o.X, x);
  Matrix reduced = k;  // L⁻¹k, later (K + σ²I)⁻¹k
  solve_lower(o.factor.L, reduced);
  const Vector mean = multiply(o.alpha, k.col(0), Op::transpose);
  const double variance =
      std::max(diagonal(o.kernel, o.theta, x)(0) - reduced.squaredNorm(), 0.0) + o.noise;
  Vector mean_bar = Vector::Zero(mean.size());
  double value = 0.0, variance_bar = 0.0;
  for (std::size_t c = 0; c < o.columns.size(); ++c) {
    const auto at = static_cast<Index>(c);
    const double away = y[o.columns[c]] - mean(at);
    if (std::isnan(away)) continue;
    value -= 0.5 * (away * away / variance + std::log(variance) + log_2pi);
    mean_bar(at) = away / variance;
    variance_bar += 0.5 * (away * away / variance - 1.0) / variance;
  }
  if (x_bar) {
    solve_lower(o.factor.L, reduced, Op::transpose);
    const Matrix k_bar = (multiply(o.alpha, mean_bar) - 2.0 * variance_bar * reduced).transpose();
    Vector unused = Vector::Zero(o.theta.size());
    cross_pullback(o.kernel.node(), o.theta.data(), x, o.X, k_bar, unused, x_bar, nullptr);
    diagonal_pullback(o.kernel.node(), o.theta.data(), x, Vector::Constant(1, variance_bar), unused,
                      x_bar);
  }
  return value;
}

// The training rows nearest to a row, over the cells that it has.
std::vector<Index> nearest(const std::vector<RowMatrix>& training,
                           const std::vector<RowMatrix>& rows, Index i, Index count) {
  Vector distance = Vector::Zero(training.front().rows());
  for (std::size_t v = 0; v < training.size(); ++v) {
    const RowMatrix away = training[v].rowwise() - rows[v].row(i);
    distance += away.array().isNaN().select(0.0, away).rowwise().squaredNorm();
  }
  std::vector<Index> out(static_cast<std::size_t>(distance.size()));
  std::iota(out.begin(), out.end(), Index{0});
  const Index kept = std::min(std::max<Index>(1, count), distance.size());
  std::partial_sort(out.begin(), out.begin() + kept, out.end(),
                    [&](Index a, Index b) { return distance(a) < distance(b); });
  out.resize(static_cast<std::size_t>(kept));
  return out;
}

}  // namespace

Index MapGplvmFit::outputs() const { return outputs_of_views(*this); }

Vector MapGplvmFit::spread() const {
  const RowMatrix centred = X.rowwise() - X.colwise().mean();
  return (centred.colwise().squaredNorm() / static_cast<double>(X.rows())).cwiseSqrt();
}

Prediction MapGplvmFit::decode(ConstRows points) const {
  return decode_by_view(*this, points.rows(),
                        [&](const ExactPosterior& p) { return p.predict(points); });
}

Prediction MapGplvmFit::decode(ConstRows mean, ConstRows variance) const {
  return decode_by_view(*this, mean.rows(), [&](const ExactPosterior& p) {
    return UncertainInputs(p).predict(mean, variance);
  });
}

std::vector<RowMatrix> MapGplvmFit::sample(ConstRows points, Index draws,
                                           std::uint64_t seed) const {
  return sample_by_view(*this, points, draws, seed);
}

MapGplvmFit::Placed MapGplvmFit::place(ConstRows Y, Index iterations, Index starts) const {
  const Index n = Y.rows(), Q = latent();
  const std::vector<RowMatrix> rows = rows_by_view(*this, Y);
  const std::vector<Outputs> all = outputs_of(*this);
  std::vector<RowMatrix> training;  // what the training rows decode to
  training.reserve(mappings.size());
  for (const auto& m : mappings) training.push_back(m.posterior.predict_mean(X));
  LbfgsOptions options;
  options.max_iterations = iterations;
  options.gradient_tolerance = 1e-5;
  Placed out{RowMatrix::Zero(n, Q), Vector::Zero(n)};
  parallel_for(n, [&](Index i) {
    RowMatrix row(1, outputs());
    Index at = 0;
    double jacobian = 0.0;
    for (std::size_t v = 0; v < rows.size(); ++v) {
      row.middleCols(at, rows[v].cols()) = rows[v].row(i);
      jacobian += mappings[v].scaling.log_jacobian(RowMatrix(rows[v].row(i)));
      at += rows[v].cols();
    }
    if (row.array().isNaN().all()) return;
    const auto likelihood = [&](const RowMatrix& x, RowMatrix* x_bar) {
      double sum = 0.0;
      for (const Outputs& o : all) sum += log_density(o, x, rows[o.view].row(i).data(), x_bar);
      return sum;
    };
    RowMatrix best;
    if (recognition && row.allFinite()) {
      best = recognition->at(recognition_values.data(), row);
    } else {
      const Objective f = [&](const Vector& u, Vector* gradient) -> std::optional<double> {
        const RowMatrix x = u.transpose();
        RowMatrix x_bar = RowMatrix::Zero(1, Q);
        const double of_row = likelihood(x, gradient ? &x_bar : nullptr);
        if (gradient) *gradient = u - x_bar.transpose();
        return 0.5 * u.squaredNorm() - of_row;
      };
      double lowest = 0.0;
      for (const Index r : nearest(training, rows, i, starts)) {
        const Minimum found = minimise(f, X.row(r).transpose(), options);
        if (best.size() && found.state.value >= lowest) continue;
        lowest = found.state.value;
        best = found.state.u.transpose();
      }
    }
    out.X.row(i) = best;
    out.log_likelihood(i) = likelihood(best, nullptr) - jacobian;
  });
  return out;
}

LatentMarginals MapGplvmFit::forecast(ConstRows times, Index sequence) const {
  if (!dynamics) throw InputError("no dynamics to forecast from; train the model with times");
  const DynamicalOptions& o = dynamics->options();
  const auto count = static_cast<Index>(o.sequences.size());
  if (times.cols() != o.times.cols())
    throw InputError(
        fmt::format("the times have {} columns, the model's {}", times.cols(), o.times.cols()));
  if (sequence >= count || sequence < -1)
    throw InputError(
        fmt::format("sequence must be −1 (new) or 0 to {}, got {}", count - 1, sequence));
  const Index n = times.rows(), Q = latent();
  LatentMarginals out{RowMatrix::Zero(n, Q),
                      diagonal(o.kernel, dynamics_theta, times).replicate(1, Q), 0.0,
                      Vector::Zero(Q)};
  if (sequence < 0) return out;
  const Index first = o.sequences[static_cast<std::size_t>(sequence)],
              end = sequence + 1 < count ? o.sequences[static_cast<std::size_t>(sequence + 1)]
                                         : X.rows();
  ExactPosteriorParts parts;
  parts.kernel = o.kernel;
  parts.theta = dynamics_theta;
  parts.X = o.times.middleRows(first, end - first);
  parts.Y = X.middleRows(first, end - first);
  Prediction p = ExactPosterior(std::move(parts)).predict(times);
  out.mean = std::move(p.mean);
  out.variance = std::move(p.variance_f);
  return out;
}

}  // namespace covary
