#include "covary/models/parameter_draws.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "covary/error.hpp"
#include "covary/linalg/blas.hpp"
#include "covary/linalg/parallel.hpp"
#include "covary/random/random.hpp"
#include "models/parameter_posterior.hpp"

namespace covary {
namespace {

// The posterior of φ with what moves in it are scaled by: Laplace's approximation at the mode.
struct Target {
  const ParameterPosterior& posterior;
  double jitter;
  Vector mode, sd;
  Matrix L;  // of the Hessian, L·Lᵀ

  // −∞ where a covariance cannot be factored.
  double log_density(const Vector& phi) const {
    try {
      Jitter own{jitter};  // none is carried on: the density must not depend on the way here
      const auto value = posterior(phi, nullptr, own);
      if (value && std::isfinite(*value)) return -*value;
    } catch (const NumericalError&) {
    }
    return -std::numeric_limits<double>::infinity();
  }
  Vector unwhitened(Vector z) const {
    solve_lower(L, z, Op::transpose);
    return z;
  }
};

Target target_of(const ParameterPosterior& posterior, double asked) {
  const Index n = posterior.size();
  auto [mode, value, H] = posterior.mode(asked);
  Target out{posterior, asked, std::move(mode), {}, {}};
  // Slices find their own size, so that a rough scale will do where the Hessian is no covariance.
  try {
    out.L = cholesky(H, "the Hessian at the posterior mode").L;
  } catch (const NumericalError&) {
    H = Matrix(H.diagonal().cwiseMax(0.25).asDiagonal());
    out.L = cholesky(H).L;
  }
  Matrix inverse = Matrix::Identity(n, n);
  solve_lower(out.L, inverse);
  out.sd = inverse.colwise().norm();
  return out;
}

// A chain of slice sampling (Neal 2003) along lines: stepping out, then shrinking towards where it
// stands, so that no step is ever refused and nothing is to be tuned.
class Chain {
 public:
  Chain(const Target& target, std::uint64_t seed, std::uint64_t stream)
      : target_(target), random_(seed, stream) {
    phi_ = target.mode + target.unwhitened(random_.normal_vector(target.mode.size()));
    log_p_ = density(phi_);
    if (std::isfinite(log_p_)) return;
    phi_ = target.mode;
    log_p_ = density(phi_);
    if (!std::isfinite(log_p_))
      throw NumericalError("the posterior of the parameters is not finite at its mode");
  }

  // Along every parameter, and along as many directions that are random where the mode is round:
  // the ones find tails of a single parameter, the others follow correlations.
  void sweep() {
    const Index n = phi_.size();
    for (Index i = 0; i < n; ++i) {
      move(target_.sd(i) * Vector::Unit(n, i));
      const Vector z = random_.normal_vector(n);
      move(target_.unwhitened(z / z.norm()));
    }
  }
  const Vector& phi() const { return phi_; }
  Index evaluations() const { return evaluations_; }

 private:
  double density(const Vector& phi) {
    ++evaluations_;
    return target_.log_density(phi);
  }
  void move(const Vector& direction) {
    constexpr double width = 2.0;
    constexpr Index most = 8;  // widths to step out
    const double height = log_p_ + std::log(random_.uniform());
    double low = -width * random_.uniform(), high = low + width;
    const Index below = random_.integer(most), above = most - 1 - below;
    for (Index k = 0; k < below && density(phi_ + low * direction) > height; ++k) low -= width;
    for (Index k = 0; k < above && density(phi_ + high * direction) > height; ++k) high += width;
    while (high - low > 1e-12) {
      const double t = low + (high - low) * random_.uniform();
      const Vector trial = phi_ + t * direction;
      const double value = density(trial);
      if (value > height) {
        phi_ = trial;
        log_p_ = value;
        return;
      }
      (t < 0.0 ? low : high) = t;
    }
  }

  const Target& target_;
  Random random_;
  Vector phi_;
  double log_p_ = 0.0;
  Index evaluations_ = 0;
};

// The largest over the columns; every chain, a matrix of its states, is cut in half.
double largest_r_hat(const std::vector<RowMatrix>& chains) {
  const Index n = chains.front().rows() / 2;
  if (n < 2) return std::nan("");
  const auto m = static_cast<double>(2 * chains.size()), size = static_cast<double>(n);
  double largest = 1.0;
  for (Index i = 0; i < chains.front().cols(); ++i) {
    double within = 0.0, sum = 0.0, squares = 0.0;
    for (const RowMatrix& chain : chains)
      for (const Index first : {Index{0}, chain.rows() - n}) {
        const Vector part = chain.col(i).segment(first, n);
        const double mean = part.mean();
        within += (part.array() - mean).square().sum() / (size - 1.0) / m;
        sum += mean;
        squares += mean * mean;
      }
    const double between = (squares - sum * sum / m) / (m - 1.0);
    largest = std::max(largest, std::sqrt((size - 1.0) / size + between / within));
  }
  return largest;
}

// The model of an exact fit, which sees the data as they are scaled already.
Regression model_of(const RegressionFit& fit) {
  const ExactPosterior& posterior = fit.posterior.as<ExactPosterior>();
  const ExactPosteriorParts& parts = posterior.parts();
  RegressionOptions o;
  o.kernel = parts.kernel;
  o.mean = parts.mean;
  o.scale_inputs = o.scale_outputs = ScaleMode::none;
  o.jitter = parts.jitter;
  Regression model(parts.X, posterior.training_outputs(), o, parts.point_noise);
  model.parameters() = fit.parameters;
  return model;
}

}  // namespace

void ParameterDrawOptions::check() const {
  if (draws < 1 || chains < 1 || burn_in < 0 || thin < 1)
    throw InputError(
        fmt::format("draws ≥ 1, chains ≥ 1, burn_in ≥ 0, thin ≥ 1 required; got {}, {}, {}, {}",
                    draws, chains, burn_in, thin));
}

ParameterDraws Regression::sample_parameters(const ParameterDrawOptions& options) const {
  options.check();
  const ParameterPosterior posterior = parameter_posterior();
  ParameterDraws out{RowMatrix(options.draws, parameters_.size())};
  if (posterior.size() == 0) {
    out.values.rowwise() = parameters_.values().transpose();
    return out;
  }
  const Target target = target_of(posterior, options_.jitter);
  const Index chains = std::min(options.chains, options.draws),
              each = (options.draws + chains - 1) / chains;
  std::vector<RowMatrix> states(static_cast<std::size_t>(chains),
                                RowMatrix(each * options.thin, posterior.size()));
  std::vector<Index> evaluations(states.size());
  parallel_for(chains, [&](Index c) {
    const auto own = static_cast<std::size_t>(c);
    Chain chain(target, options.seed, static_cast<std::uint64_t>(c));
    for (Index s = 0; s < options.burn_in; ++s) chain.sweep();
    for (Index s = 0; s < each * options.thin; ++s) {
      chain.sweep();
      states[own].row(s) = chain.phi();
      const Index draw = (s / options.thin) * chains + c;
      if ((s + 1) % options.thin == 0 && draw < options.draws)
        out.values.row(draw) = posterior.values(chain.phi());
    }
    evaluations[own] = chain.evaluations();
  });
  for (const Index count : evaluations) out.evaluations += count;
  out.r_hat = largest_r_hat(states);
  return out;
}

ParameterDraws sample_parameters(const RegressionFit& fit, const ParameterDrawOptions& options) {
  return model_of(fit).sample_parameters(options);
}

double RegressionFit::laplace_log_evidence() const {
  if (!posterior.can(Capability::exact_evidence)) return std::nan("");
  const double log_jacobian = posterior.log_evidence() - value;
  return model_of(*this).laplace_log_evidence() - log_jacobian;
}

RegressionFit with_parameters(const RegressionFit& fit, ConstVector values) {
  const ExactPosterior& posterior = fit.posterior.as<ExactPosterior>();
  posterior.training_outputs();  // what has none says so
  if (values.size() != fit.parameters.size())
    throw InputError(fmt::format("{} values for a model of {} parameters", values.size(),
                                 fit.parameters.size()));
  RegressionFit out = fit;
  out.parameters.set_values(values);
  const Vector all = out.parameters.values();
  ExactPosteriorParts parts = posterior.parts();
  const Index K = parts.theta.size();
  parts.theta = all.head(K);
  parts.noise_variance = all(K);
  if (parts.mean_weights.size())
    parts.mean_weights = Eigen::Map<const RowMatrix>(all.data() + K + 1, parts.mean_weights.rows(),
                                                     parts.mean_weights.cols());
  parts.appended.clear();
  out.posterior = ExactPosterior(std::move(parts));
  out.value += out.posterior.log_evidence() - posterior.log_evidence();
  out.log_prior = out.parameters.log_prior(all);
  out.summary = {};  // nothing was trained to get here
  out.summary.objective = fit.summary.objective;
  out.summary.value = out.value;
  out.summary.stop = Stop::evaluated;
  out.summary.reason = "evaluated at the given parameters";
  out.standard_errors = Vector();
  return out;
}

Prediction predict(const RegressionFit& fit, const ParameterDraws& draws, ConstRows X) {
  if (draws.values.rows() < 1) throw InputError("there are no draws of the parameters");
  const auto n = static_cast<double>(draws.values.rows());
  const Index P = fit.posterior.functions();
  Prediction out{RowMatrix::Zero(X.rows(), P), RowMatrix::Zero(X.rows(), P),
                 RowMatrix::Zero(X.rows(), P)};
  RowMatrix spread = out.mean;  // of the means, by the update of Welford
  for (Index d = 0; d < draws.values.rows(); ++d) {
    const Prediction p = with_parameters(fit, draws.values.row(d).transpose()).predict(X);
    const RowMatrix away = p.mean - out.mean;
    out.mean += away / static_cast<double>(d + 1);
    spread.array() += away.array() * (p.mean - out.mean).array();
    out.variance_f += p.variance_f / n;
    out.variance_y += p.variance_y / n;
  }
  out.variance_f += spread / n;
  out.variance_y += spread / n;
  return out;
}

}  // namespace covary
