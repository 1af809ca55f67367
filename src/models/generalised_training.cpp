// How a model of any likelihood is trained: L-BFGS over the evidence as its method has it.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <limits>
#include <utility>

#include "covary/error.hpp"
#include "covary/models/generalised.hpp"
#include "models/starts.hpp"

namespace covary {
namespace {

// Classes that a function separates are likelier the steeper it is, and Laplace's evidence does not
// stop it: the probabilities come out too timid. Empty where nothing of that kind happened.
std::string runaway_variance(const Parameters& parameters) {
  constexpr double suspicious = 1000.0;  // σ(f) is 1 for all that matters beyond |f| = 30
  for (const Parameter& p : parameters.all())
    if (p.path.ends_with("variance") && !p.path.starts_with("likelihood") && p.trainable &&
        p.value.size() == 1 && p.value(0) > suspicious)
      return fmt::format(
          "{} ran to {:.3g}, as it does for classes that can be told apart without error; "
          "probabilities by Laplace are then too near to even: use ep or vgp, or give it a prior "
          "such as gamma(2,0.2)",
          p.path, p.value(0));
  return {};
}

}  // namespace

Index Generalised::starts() const {
  if (options_.starts) return options_.starts;
  return !features_ && rows() <= 300 ? 3 : 1;
}

Minimum Generalised::minimise(const LbfgsOptions& training, Index starts, RestartsState state,
                              Jitter& jitter, bool tell) {
  LbfgsOptions options = training;
  if (features_ && !options.objective_changed)
    options.objective_changed = [&jitter] { return std::exchange(jitter.raised, false); };
  std::function<void(const RestartsState&)> after;
  if (options_.after_iteration && tell)
    after = [&](const RestartsState& s) { options_.after_iteration({s, jitter}); };
  Minimum best = minimise_with_restarts(
      [&](const Vector& at, Vector* g) { return objective(at, g, jitter); }, parameters_.flatten(),
      starts, [&](Index r) { return perturbed_start(parameters_, r, options_.seed); }, options,
      std::move(state), after);
  parameters_.set_values(parameters_.constrain(best.state.u));
  return best;
}

// Before all is trained together: some iterations with Z held, and Z chosen again at the parameters
// found where that does not lower the evidence.
void Generalised::settle_Z(Jitter& jitter) {
  const std::string Z = "features.Z";
  if (options_.Z.size() != 0 || !parameters_.at(Z).trainable) return;
  LbfgsOptions first = options_.training;
  first.max_iterations = std::min<Index>(first.max_iterations, 15);
  parameters_.fix(Z);
  try {
    if (parameters_.free_size() > 0) minimise(first, 1, {}, jitter, false);
  } catch (...) {
    parameters_.unfix(Z);
    throw;
  }
  parameters_.unfix(Z);
  jitter = Jitter{options_.jitter};
  if (!looks_at_parameters(options_.selection)) return;
  const auto evidence = [this] {
    try {
      return value();
    } catch (const NumericalError&) {
      return -std::numeric_limits<double>::infinity();
    }
  };
  const RowMatrix chosen = choose_Z(inducing());
  if (chosen.rows() != inducing()) return;
  const double before = evidence();
  const Vector held = parameters_.at(Z).value;
  parameters_.set(Z, Eigen::Map<const Vector>(chosen.data(), chosen.size()));
  if (evidence() < before) parameters_.set(Z, held);
}

GeneralisedFit Generalised::fit() {
  const auto began = std::chrono::steady_clock::now();
  Jitter jitter{options_.jitter};
  Summary summary;
  const bool any = parameters_.free_size() > 0;
  const bool trains = options_.training.max_iterations > 0 && any;
  if (trains) {
    RestartsState state;
    if (resume_) {
      jitter = resume_->jitter;
      state = std::move(resume_->restarts);
    } else if (features_) {
      settle_Z(jitter);
    }
    resume_.reset();
    summary = minimise(options_.training, starts(), std::move(state), jitter, true).summary;
    for (auto& p : summary.trace) p.value += log_jacobian_;
    for (auto& s : summary.starts)
      if (s.value) *s.value += log_jacobian_;
    summary.initial_value += log_jacobian_;
    summary.negate_values();
  } else {
    summary.evaluations = 1;
    summary.converged = !any;
    summary.reason = any ? "evaluated at the given parameters" : "nothing to train";
  }
  const Vector values = parameters_.values();
  Approximation q = approximate(values, nullptr, jitter, false);
  summary.value = q.value - log_jacobian_;
  if (!trains) summary.initial_value = summary.value;
  summary.objective =
      options_.method == Inference::vi ? "elbo" : fmt::format("log_evidence({})", name());
  summary.route =
      fmt::format("{}: {} iterations at the end, {}", name(), q.iterations,
                  features_ ? fmt::format("{} inducing inputs", inducing()) : "N×N factorisations");
  if (features_) summary.jitter = jitter.added;
  summary.warnings.insert(summary.warnings.begin(), warnings_.begin(), warnings_.end());
  if (options_.method == Inference::laplace && options_.likelihood.classes() > 0)
    if (std::string warning = runaway_variance(parameters_); !warning.empty())
      summary.warnings.push_back(std::move(warning));
  GeneralisedFit out{name(),
                     std::move(q.posterior),
                     options_.likelihood,
                     unpack(values).latent.likelihood,
                     input_scaling_,
                     output_scaling_,
                     parameters_,
                     {},
                     summary.value,
                     parameters_.log_prior(values)};
  out.classes = options_.classes;
  if (features_) out.diagnostics = {{"inducing", static_cast<double>(inducing())}};
  out.input_map = input_map_;
  out.rows = rows();
  summary.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
  out.summary = std::move(summary);
  return out;
}

}  // namespace covary
