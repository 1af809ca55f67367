#include "covary/models/generalised.hpp"

#include <fmt/format.h>

#include <chrono>
#include <cmath>

#include "covary/error.hpp"
#include "covary/inference/ep.hpp"
#include "covary/inference/laplace.hpp"
#include "covary/inference/variational.hpp"
#include "models/generalised_data.hpp"
#include "models/starts.hpp"

namespace covary {

void GeneralisedOptions::check() const {
  if (method != Inference::laplace && method != Inference::ep && method != Inference::vi)
    throw InputError(
        fmt::format("a model without inducing inputs is fitted by laplace, ep or vgp, not by {}",
                    name_of(method)));
  likelihood.require(method);
  if (!(power > 0.0 && power <= 1.0))
    throw InputError(fmt::format("the power of EP must lie in (0, 1], got {}", power));
  if (starts < 0) throw InputError(fmt::format("starts must not be negative, got {}", starts));
  if (!classes.empty() && static_cast<Index>(classes.size()) != likelihood.classes())
    throw InputError(fmt::format("{} names of classes were given, {} has {}", classes.size(),
                                 likelihood.print(), likelihood.classes()));
  training.check();
}

Generalised::Generalised(ConstRows X, ConstVector y, GeneralisedOptions options, ConstVector aux)
    : options_(std::move(options)) {
  options_.check();
  GeneralisedData data = generalised_data(X, y, aux, options_.likelihood, options_.scale_inputs,
                                          options_.scale_outputs);
  const LatentStart start = latent_start(data, options_.likelihood, options_.mean);
  parameters_ = options_.kernel.parameters(start.scale);
  const Parameters own = options_.likelihood.parameters();
  for (const Parameter& p : own.all()) parameters_.add(p);
  options_.mean.declare(parameters_, X.cols(), Vector::Constant(1, start.intercept));
  model_ = {options_.kernel,          options_.likelihood,  options_.mean,
            std::move(data.scaled.X), data.scaled.Y.col(0), std::move(data.aux)};
  input_scaling_ = std::move(data.scaled.inputs);
  output_scaling_ = std::move(data.scaled.outputs);
  log_jacobian_ = data.scaled.log_jacobian;
  warnings_ = std::move(data.scaled.warnings);
}

std::string Generalised::name() const {
  if (options_.method == Inference::vi) return "vgp";
  if (options_.method == Inference::ep && options_.power != 1.0)
    return fmt::format("ep({})", options_.power);
  return name_of(options_.method);
}

LatentParameters Generalised::unpack(ConstVector values) const {
  const Index K = options_.kernel.parameter_count(model_.X.cols());
  const Index L = options_.likelihood.parameter_count();
  return {values.head(K), values.segment(K, L), values.tail(values.size() - K - L)};
}

LatentApproximation Generalised::approximate(ConstVector values, Vector* values_bar) const {
  const LatentParameters at = unpack(values);
  LatentParameters bar;
  LatentParameters* const wanted = values_bar ? &bar : nullptr;
  LatentApproximation out = [&] {
    switch (options_.method) {
      case Inference::ep: {
        EpOptions ep;
        ep.power = options_.power;
        return expectation_propagation(model_, at, wanted, ep);
      }
      case Inference::vi:
        return variational_approximation(model_, at, wanted);
      default:
        return laplace_approximation(model_, at, wanted);
    }
  }();
  if (values_bar) {
    values_bar->resize(values.size());
    const Index K = bar.kernel.size(), L = bar.likelihood.size();
    values_bar->head(K) = bar.kernel;
    values_bar->segment(K, L) = bar.likelihood;
    values_bar->tail(values.size() - K - L) = bar.mean_weights;
  }
  return out;
}

double Generalised::value() const {
  return approximate(parameters_.values(), nullptr).value - log_jacobian_;
}

std::optional<double> Generalised::objective(const Vector& u, Vector* gradient) const {
  const Vector values = parameters_.constrain(u);
  if (!values.allFinite()) return std::nullopt;
  Vector bar;
  double value = approximate(values, gradient ? &bar : nullptr).value;
  value += parameters_.log_prior(values, gradient ? &bar : nullptr);
  if (gradient) *gradient = -parameters_.pullback(u, bar);
  return -value;
}

GeneralisedFit Generalised::fit() {
  const auto began = std::chrono::steady_clock::now();
  const Index starts = options_.starts ? options_.starts : (rows() <= 300 ? 3 : 1);
  Summary summary;
  const Vector u = parameters_.flatten();
  const bool trains = options_.training.max_iterations > 0 && u.size() > 0;
  if (trains) {
    RestartsState state;
    if (resume_) state = std::move(resume_->restarts);
    resume_.reset();
    std::function<void(const RestartsState&)> after;
    if (options_.after_iteration)
      after = [&](const RestartsState& s) { options_.after_iteration({s, {}}); };
    Minimum best = minimise_with_restarts(
        [&](const Vector& at, Vector* g) { return objective(at, g); }, u, starts,
        [&](Index r) { return perturbed_start(parameters_, r, options_.seed); }, options_.training,
        std::move(state), after);
    summary = std::move(best.summary);
    parameters_.set_values(parameters_.constrain(best.state.u));
    for (auto& p : summary.trace) p.value += log_jacobian_;
    for (auto& s : summary.starts)
      if (s.value) *s.value += log_jacobian_;
    summary.initial_value += log_jacobian_;
    summary.negate_values();
  } else {
    summary.evaluations = 1;
    summary.converged = u.size() == 0;
    summary.reason = u.size() == 0 ? "nothing to train" : "evaluated at the given parameters";
  }
  const Vector values = parameters_.values();
  LatentApproximation q = approximate(values, nullptr);
  summary.value = q.value - log_jacobian_;
  if (!trains) summary.initial_value = summary.value;
  summary.objective = options_.method == Inference::vi
                          ? "elbo"
                          : fmt::format("log_marginal_likelihood({})", name());
  summary.route =
      fmt::format("{}: {} iterations at the end, N×N factorisations", name(), q.iterations);
  summary.warnings.insert(summary.warnings.begin(), warnings_.begin(), warnings_.end());
  GeneralisedFit out{name(),
                     std::vector<LatentPosterior>{std::move(q.posterior)},
                     options_.likelihood,
                     unpack(values).likelihood,
                     input_scaling_,
                     output_scaling_,
                     parameters_,
                     {},
                     summary.value,
                     parameters_.log_prior(values)};
  out.classes = options_.classes;
  summary.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
  out.summary = std::move(summary);
  return out;
}

}  // namespace covary
