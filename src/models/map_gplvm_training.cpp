#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "models/map_gplvm_impl.hpp"

namespace covary {

MapGplvmFit MapGplvm::Impl::fit() {
  Jitter jitter{options_.jitter};
  Trainer trainer(options_.training, std::exchange(resume_, {}));
  const Problem problem{&parameters_, &jitter, [&](ConstVector values, Vector* bar) {
                          const Terms terms = evaluate(values, jitter, bar);
                          return std::optional(terms.likelihood + terms.prior);
                        }};
  // Other inputs; what the caller has set, fixed, tied or given a prior stays.
  const Parameters given = parameters_;
  const auto other_start = [&](Index r) {
    Parameters fresh, out = given;
    declare_inputs(fresh, start_inputs(r));
    for (const Parameter& p : fresh.all())
      if (given.at(p.path).trainable) out.set(p.path, p.value);
    return out.flatten();
  };
  Minimum best =
      trainer.minimise_from(problem, std::max<Index>(1, options_.training.starts), other_start);
  MapGplvmFit out = finished(std::move(best.summary));
  out.summary.seconds = trainer.seconds();
  return out;
}

MapGplvmFit MapGplvm::Impl::finished(Summary summary) const {
  const Vector values = parameters_.values();
  MapGplvmFit out;
  out.X = inputs_at(values.data());
  const Index K = options_.kernel.parameter_count(options_.latent);
  for (const View& v : views_) {
    ExactPosteriorParts parts;
    parts.kernel = options_.kernel;
    parts.theta = values.segment(v.offset, K);
    parts.noise_variance = values(v.offset + K);
    parts.jitter = options_.jitter;
    parts.X = out.X;
    parts.Y = v.Y;
    out.mappings.push_back({v.view, ExactPosterior(std::move(parts)), v.scaling});
    const ExactPosterior& posterior = out.mappings.back().posterior;
    summary.jitter = std::max(summary.jitter, posterior.jitter());
    out.value += posterior.log_evidence();
  }
  out.value -= log_jacobian_;
  out.log_prior = log_prior_of(out.X, values, nullptr, nullptr) + parameters_.log_prior(values);
  summary.to_log_density(log_jacobian_);
  summary.objective = "log_posterior";
  summary.value = out.value + out.log_prior;
  summary.route =
      fmt::format("exact: one Cholesky factorisation of N×N for each of {} views", views_.size());
  summary.warnings.insert(summary.warnings.begin(), warnings_.begin(), warnings_.end());
  if (summary.jitter > options_.jitter)
    summary.warnings.push_back(fmt::format(
        "jitter {:.1e} was needed to factor the covariance: rows nearly coincide, or "
        "there is very little noise; predictions are unharmed unless it is close to the "
        "noise variance",
        summary.jitter));
  if (recognition_) {
    out.recognition = recognition_;
    out.recognition_values = values.head(recognition_->parameter_count());
  }
  if (dynamics_) {
    out.dynamics = dynamics_;
    out.dynamics_theta =
        values.segment(dynamics_offset_, options_.dynamics.parameter_count(options_.times.cols()));
  }
  out.parameters = parameters_;
  out.summary = std::move(summary);
  return out;
}

}  // namespace covary
