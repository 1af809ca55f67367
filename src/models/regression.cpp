#include "covary/models/regression.hpp"

#include <fmt/format.h>

#include <cmath>
#include <utility>

#include "covary/error.hpp"
#include "covary/linalg/blas.hpp"
#include "models/row_summaries.hpp"
#include "models/starts.hpp"

namespace covary {

void RegressionOptions::check() const {
  if (!(jitter >= 0.0) || !std::isfinite(jitter))
    throw InputError(fmt::format("jitter must be finite and not negative, got {}", jitter));
  training.check();
}

Regression::Regression(ConstRows X, ConstRows Y, RegressionOptions options, ConstVector point_noise)
    : options_(std::move(options)) {
  options_.check();
  ScaledData data = scaled_data(X, Y, point_noise, options_.scale_inputs, options_.scale_outputs);
  X_ = std::move(data.X);
  Y_ = std::move(data.Y);
  point_noise_ = std::move(data.point_noise);
  input_scaling_ = std::move(data.inputs);
  output_scaling_ = std::move(data.outputs);
  log_jacobian_ = data.log_jacobian;
  warnings_ = std::move(data.warnings);

  const MemoryRows rows(X_, Y_, point_noise_);
  const DataScale scale = data_scale(rows);
  parameters_ = options_.kernel.parameters(scale);
  const double noise = 0.1 * scale.y_variance;
  parameters_.add({"likelihood.variance", Vector::Constant(1, noise),
                   Transform::positive(noise, 1e-7 * noise)});
  options_.mean.declare(parameters_, X_.cols(), column_means(rows));
  starts_ = parameters_;
}

// log p(Y | values) in model units, and ∂/∂values.
double Regression::evidence(ConstVector values, Jitter& jitter, Vector* values_bar,
                            Matrix* workspace) const {
  const Index K = options_.kernel.parameter_count(X_.cols());
  Matrix R = Y_;
  Matrix H;
  const Index B = options_.mean.basis_count(X_.cols()), P = Y_.cols();
  if (B > 0) {
    H = options_.mean.basis(X_);
    const Eigen::Map<const RowMatrix> W(values.data() + K + 1, B, P);
    R -= product(H, Matrix(W));
  }
  ExactGradient g;
  const double value =
      exact_log_evidence(options_.kernel, values.head(K), X_, R, values(K), point_noise_, jitter,
                         values_bar ? &g : nullptr, workspace);
  if (values_bar) {
    values_bar->resize(values.size());
    values_bar->head(K) = g.theta_bar;
    (*values_bar)(K) = g.noise_bar;
    if (B > 0) {
      const RowMatrix W_bar = -product(H, g.Y_bar, Op::transpose);
      values_bar->tail(B * P) = Eigen::Map<const Vector>(W_bar.data(), B * P);
    }
  }
  return value;
}

double Regression::log_marginal_likelihood() const {
  Jitter jitter{options_.jitter};
  return evidence(parameters_.values(), jitter, nullptr) - log_jacobian_;
}

std::optional<double> Regression::objective(const Vector& u, Vector* gradient, Jitter& jitter,
                                            Matrix* workspace) const {
  return minus_log_posterior(parameters_, u, gradient, [&](ConstVector values, Vector* bar) {
    return std::optional(evidence(values, jitter, bar, workspace));
  });
}

ExactPosterior Regression::posterior() const {
  const Index K = options_.kernel.parameter_count(X_.cols());
  const Vector values = parameters_.values();
  ExactPosteriorParts parts;
  parts.kernel = options_.kernel;
  parts.theta = values.head(K);
  parts.mean = options_.mean;
  const Index B = options_.mean.basis_count(X_.cols());
  if (B > 0) parts.mean_weights = Eigen::Map<const RowMatrix>(values.data() + K + 1, B, Y_.cols());
  parts.noise_variance = values(K);
  parts.point_noise = point_noise_;
  parts.jitter = options_.jitter;
  parts.X = X_;
  parts.Y = Y_;
  return ExactPosterior(std::move(parts));
}

RegressionFit Regression::fit() {
  Jitter jitter{options_.jitter};
  Matrix workspace;
  Trainer trainer(options_.training, std::exchange(resume_, {}));
  const Problem problem{&parameters_, &jitter, [&](ConstVector values, Vector* bar) {
                          return std::optional(evidence(values, jitter, bar, &workspace));
                        }};
  const Index usual = X_.rows() <= 1000 ? 3 : 1;
  Minimum best = trainer.minimise_from(
      problem, options_.training.starts ? options_.training.starts : usual,
      [&](Index r) { return perturbed_start(parameters_, r, options_.seed); });
  const Vector& u = best.state.u;
  Summary summary = std::move(best.summary);
  summary.to_log_density(log_jacobian_);
  summary.objective = "log_marginal_likelihood";
  summary.route = "exact: one Cholesky factorisation of N×N";

  const Vector values = parameters_.values();
  const double log_prior = parameters_.log_prior(values);
  RegressionFit out(posterior(), input_scaling_, output_scaling_);
  out.parameters = parameters_;
  out.log_prior = log_prior;
  out.value = out.posterior.log_evidence() - log_jacobian_;
  summary.value = out.value;
  summary.jitter = out.posterior.jitter();
  summary.warnings.insert(summary.warnings.begin(), warnings_.begin(), warnings_.end());
  if (summary.jitter > options_.jitter)
    summary.warnings.push_back(fmt::format(
        "jitter {:.1e} was needed to factor the covariance: rows nearly coincide, or "
        "there is very little noise; predictions are unharmed unless it is close to the "
        "noise variance",
        summary.jitter));
  const double n = static_cast<double>(X_.rows()), flops = 2.0 * static_cast<double>(u.size()) * n *
                                                           n * (n + static_cast<double>(X_.cols()));
  constexpr Index most = 1000;  // the Hessian grows with the square of the number of parameters
  const bool wanted =
      options_.standard_errors == Switch::on ||
      (options_.standard_errors == Switch::automatic && flops < 2e11 && u.size() <= most);
  // Nobody waits for them when it was stopped.
  if (wanted && summary.stop != Stop::evaluated && !trainer.stopped())
    out.standard_errors = find_standard_errors(u, jitter, summary.warnings);
  summary.seconds = trainer.seconds();
  out.summary = std::move(summary);
  return out;
}

}  // namespace covary
