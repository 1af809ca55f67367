// q(X) of a further sequence of a dynamical model, q(u) of the mappings held. With S⁻¹ = K⁻¹ + Λ
// and S⁻¹m = b for each latent dimension, steps of natural gradients are
//   λ ← (1 − ρ)λ + ρ·(−2·∂F/∂variance),  b ← (1 − ρ)b + ρ·(λ₊∘m + ∂F/∂mean),
// λ₊ the new curvature, F the expected log likelihood, with ρ halved until the bound rises. K is
// not inverted: KL = ½(tr B̃⁻¹ + log|B̃| − n + mᵀ(b − λ∘m)).
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <optional>

#include "covary/error.hpp"
#include "covary/inference/uncertain_inputs.hpp"
#include "covary/linalg/parallel.hpp"
#include "covary/models/gplvm_fit.hpp"
#include "inference/dynamical_site.hpp"
#include "models/by_view.hpp"

namespace covary {
namespace {

constexpr double least_precision = 1e-6, shortest_step = 1e-3;
constexpr double start_precision = 10.0;  // with it the means of a start are smoothed
constexpr double tolerance = 1e-7;        // of the bound's rise, relative

class Sequence {
 public:
  struct State {
    RowMatrix b, lambda;               // n×Q
    RowMatrix mean, variance;          // of q
    RowMatrix mean_bar, variance_bar;  // of F
    Vector by_view;                    // F at the noise of training
    Vector share;                      // of that noise in the sequence's own, of each view
    double value = 0.0;                // F − KL
  };

  Sequence(const GplvmFit& fit, ConstRows Y, ConstRows times)
      : n_(Y.rows()), Q_(fit.latent()), Y_(rows_by_view(fit, Y)) {
    const DynamicalOptions& o = fit.dynamics->options();
    const Vector theta = fit.dynamics_values.tail(o.kernel.parameter_count(times.cols()));
    K_ = gram(o.kernel, theta, times);
    maps_.reserve(fit.mappings.size());
    counts_ = Vector::Zero(static_cast<Index>(fit.mappings.size()));
    for (std::size_t v = 0; v < fit.mappings.size(); ++v) {
      maps_.emplace_back(fit.mappings[v].posterior);
      jacobian_ += fit.mappings[v].scaling.log_jacobian(
          RowMatrix(Y(Eigen::all, fit.mappings[v].view.columns)));
      for (const double y : Y_[v].reshaped()) counts_(static_cast<Index>(v)) += !std::isnan(y);
    }
    for (Index i = 0; i < n_; ++i)
      for (std::size_t v = 0; v < maps_.size(); ++v)
        if (!Y_[v].row(i).array().isNaN().all())
          terms_.push_back({i, static_cast<Index>(v), {maps_[v], Y_[v].row(i).data()}});
  }

  State at(const RowMatrix& start) const {
    State z;
    z.lambda = RowMatrix::Constant(n_, Q_, start_precision);
    z.b = start_precision * start;
    z.share = Vector::Ones(counts_.size());
    evaluate(z);
    return z;
  }

  // Whether a step raised the bound, and by how much.
  double step(State& z, double& rho) const {
    const RowMatrix lambda = (-2.0 * z.variance_bar).cwiseMax(least_precision);
    const RowMatrix b = lambda.cwiseProduct(z.mean) + z.mean_bar;
    for (rho = std::min(1.0, 2.0 * rho); rho >= shortest_step; rho *= 0.5) {
      State there = z;
      there.lambda += rho * (lambda - z.lambda);
      there.b += rho * (b - z.b);
      evaluate(there);
      if (!(there.value > z.value)) continue;
      const double rise = there.value - z.value;
      z = std::move(there);
      return rise;
    }
    return 0.0;
  }

  // The noise at which the bound is largest: the mean square of what the means leave.
  void take_own_noise(State& z) const {
    for (Index v = 0; v < counts_.size(); ++v)
      if (counts_(v) > 0.0) z.share(v) = -0.5 * counts_(v) / (z.by_view(v) + constant(v));
    evaluate(z);
  }

  Vector noise(const State& z) const {
    Vector out(counts_.size());
    for (Index v = 0; v < out.size(); ++v) out(v) = map(v).noise() / z.share(v);
    return out;
  }
  double jacobian() const { return jacobian_; }

 private:
  struct Term {
    Index row, view;
    UncertainInputs::RowTerm of;
  };
  const UncertainInputs& map(Index v) const { return maps_[static_cast<std::size_t>(v)]; }
  double constant(Index v) const {
    return 0.5 * counts_(v) * std::log(2.0 * std::numbers::pi * map(v).noise());
  }

  void evaluate(State& z) const {
    z.mean.resize(n_, Q_);
    z.variance.resize(n_, Q_);
    Vector kl(Q_);
    parallel_for(Q_, [&](Index q) {
      const Vector b = z.b.col(q), lambda = z.lambda.col(q);
      const Site site(K_, lambda);
      const Vector m = multiply(K_, b) - multiply(site.V, multiply(site.V, b), Op::transpose);
      z.mean.col(q) = m;
      z.variance.col(q) = site.variances(K_);
      kl(q) = 0.5 * (site.divergence() + m.dot(b - lambda.cwiseProduct(m)));
    });
    const auto count = static_cast<Index>(terms_.size());
    Vector values(count);
    RowMatrix mean_bar = RowMatrix::Zero(count, Q_), variance_bar = mean_bar;
    parallel_for(count, [&](Index t) {
      const Term& term = terms_[static_cast<std::size_t>(t)];
      values(t) = term.of(&z.mean(term.row, 0), &z.variance(term.row, 0), &mean_bar(t, 0),
                          &variance_bar(t, 0));
    });
    z.by_view = Vector::Zero(counts_.size());
    z.mean_bar = RowMatrix::Zero(n_, Q_);
    z.variance_bar = z.mean_bar;
    for (Index t = 0; t < count; ++t) {
      const Term& term = terms_[static_cast<std::size_t>(t)];
      z.by_view(term.view) += values(t);
      z.mean_bar.row(term.row) += z.share(term.view) * mean_bar.row(t);
      z.variance_bar.row(term.row) += z.share(term.view) * variance_bar.row(t);
    }
    z.value = -kl.sum();
    for (Index v = 0; v < counts_.size(); ++v)
      z.value += z.share(v) * (z.by_view(v) + constant(v)) - constant(v) +
                 0.5 * counts_(v) * std::log(z.share(v));
  }

  Index n_, Q_;
  std::vector<RowMatrix> Y_;
  Matrix K_;
  std::vector<UncertainInputs> maps_;
  std::vector<Term> terms_;
  Vector counts_;  // of the outputs observed, of each view
  double jacobian_ = 0.0;
};

// Of each row the training row that decodes nearest to what is observed of it.
RowMatrix nearest_means(const GplvmFit& fit, const RowMatrix& Y) {
  const std::vector<RowMatrix> rows = rows_by_view(fit, Y);
  Matrix apart = Matrix::Zero(Y.rows(), fit.mean.rows());
  for (std::size_t v = 0; v < rows.size(); ++v) {
    const RowMatrix decoded = fit.mappings[v].posterior.predict_mean(fit.mean);
    for (Index i = 0; i < Y.rows(); ++i)
      for (Index p = 0; p < decoded.cols(); ++p)
        if (!std::isnan(rows[v](i, p)))
          apart.row(i) += (decoded.col(p).array() - rows[v](i, p)).square().matrix().transpose();
  }
  RowMatrix out(Y.rows(), fit.latent());
  for (Index i = 0; i < Y.rows(); ++i) {
    Index nearest = 0;
    apart.row(i).minCoeff(&nearest);
    out.row(i) = fit.mean.row(nearest);
  }
  return out;
}

}  // namespace

GplvmFit::InferredSequence GplvmFit::infer_sequence(ConstRows Y, ConstRows times,
                                                    const SequenceOptions& options) const {
  if (!dynamics || likelihood)
    throw InputError(
        "inferring a sequence needs a model with dynamics and Gaussian noise: train it with times, "
        "or infer the rows one by one");
  if (times.rows() != Y.rows() || times.cols() != dynamics->options().times.cols())
    throw InputError(fmt::format("the times are {}×{}, of {} rows; the model's have {} columns",
                                 times.rows(), times.cols(), Y.rows(),
                                 dynamics->options().times.cols()));
  if (Y.rows() == 0 || !times.allFinite())
    throw InputError("a sequence needs at least one row, and finite times");
  const Sequence sequence(*this, Y, times);
  std::vector<RowMatrix> starts = options.start_means;
  if (starts.empty()) starts.push_back(nearest_means(*this, Y));
  std::optional<Sequence::State> best;
  InferredSequence out;
  for (const RowMatrix& start : starts) {
    if (start.rows() != Y.rows() || start.cols() != latent() || !start.allFinite())
      throw InputError(fmt::format("a start is {}×{}, the latent inputs of the sequence are {}×{}",
                                   start.rows(), start.cols(), Y.rows(), latent()));
    Sequence::State z = sequence.at(start);
    if (options.own_noise) {
      sequence.take_own_noise(z);
    }
    double rho = 1.0;
    for (Index k = 0; k < options.iterations; ++k) {
      const double before = z.value;
      const double rise = sequence.step(z, rho);
      if (options.own_noise) sequence.take_own_noise(z);
      if (rise == 0.0 || z.value - before <= tolerance * std::max(1.0, std::abs(z.value))) break;
    }
    out.bounds.push_back(z.value - sequence.jacobian());
    if (!best || z.value > best->value) best = std::move(z);
  }
  out.mean = best->mean;
  out.variance = best->variance;
  out.bound = best->value - sequence.jacobian();
  out.noise = sequence.noise(*best);
  return out;
}

}  // namespace covary
