// How a model of any likelihood is trained: L-BFGS over the evidence as its method has it.
#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "covary/error.hpp"
#include "models/choose_again.hpp"
#include "models/feature_settings.hpp"
#include "models/generalised_data.hpp"
#include "models/generalised_impl.hpp"
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

Index Generalised::Impl::starts() const {
  if (options_.training.starts) return options_.training.starts;
  return !features_ && rows() <= 300 ? 3 : 1;
}

Problem Generalised::Impl::problem(Jitter& jitter) {
  return {&parameters_, &jitter, [this, &jitter](ConstVector values, Vector* bar) {
            return std::optional(approximate(values, bar, jitter, trains_features()).value);
          }};
}

// Before all is trained together: some iterations with features that lie around inputs held, and
// these chosen again at the parameters found where that does not lower the evidence.
std::optional<Summary> Generalised::Impl::settle_features(Trainer& trainer, Jitter& jitter) {
  FeatureSettings said;
  said.chosen(chosen_);
  said.look(parameters_, true);
  if (options_.Z.size() != 0 || options_.features.inputs(1) == 0 || said.holds_any())
    return std::nullopt;
  const auto first = trainer.minimise_held(
      problem(jitter), [&](const std::string& path) { return chosen_.contains(path); },
      {std::min<Index>(options_.training.max_iterations / 2, 15)});
  jitter = Jitter{options_.jitter};
  const auto put = [this](const Parameters& features) {
    for (const Parameter& p : features.all()) parameters_.set(p.path, p.value);
  };
  if (looks_at_parameters(options_.selection))
    choose_again([this] { return value(); },
                 [&] {
                   const FeaturesPtr again = start_features(inducing());
                   if (again->size() != inducing()) return false;
                   Parameters own;
                   again->declare(own);
                   put(own);
                   return true;
                 },
                 [&] { put(chosen_); });
  return first ? std::optional(first->summary) : std::nullopt;
}

// The model that has this map, at what was said of the parameters of this one.
void Generalised::Impl::see(InputMap map) {
  GeneralisedOptions o = options_;
  o.input_map = std::move(map);
  Impl made(untrained_->X, Vector(untrained_->Y.col(0)), std::move(o));
  untrained_->settle(parameters_, made.parameters_);
  made.resume_ = std::move(resume_);
  *this = std::move(made);
}

void Generalised::Impl::take_latent_space(const FitNode& from) {
  if (!untrained_) return;
  InputMap map =
      untrained_->of(from, with_function_options<FunctionOptions>(options_), input_scaling_);
  if (map) see(std::move(map));
}

GeneralisedFit Generalised::Impl::fit() {
  Trainer trainer(options_.training, std::exchange(resume_, {}));
  if (untrained_) {
    std::vector<std::string> warnings;
    see(untrained_->train(with_function_options<FunctionOptions>(options_), input_scaling_, trainer,
                          warnings));
    warnings_.insert(warnings_.end(), warnings.begin(), warnings.end());
  }
  Jitter jitter{options_.jitter};
  std::optional<Summary> before;
  if (features_ && options_.training.max_iterations > 0) before = settle_features(trainer, jitter);
  Summary summary = trainer
                        .minimise_from(
                            problem(jitter), starts(),
                            [&](Index r) { return perturbed_start(parameters_, r, options_.seed); },
                            Trainer::rest_of(options_.training, std::move(before)))
                        .summary;
  summary.to_log_density(log_jacobian_);
  const Vector values = parameters_.values();
  Approximation q = approximate(values, nullptr, jitter, false);
  summary.value = q.value - log_jacobian_;
  trainer.complete(summary);
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
  GeneralisedFit out(name(), std::move(q.posterior), options_.likelihood,
                     unpack(values).functions.likelihood);
  out.input_scaling = input_scaling_;
  out.output_scaling = output_scaling_;
  out.parameters = parameters_;
  out.value = summary.value;
  out.log_prior = parameters_.log_prior(values);
  out.classes = options_.classes;
  if (features_) out.diagnostics = {{"inducing", static_cast<double>(inducing())}};
  out.input_map = input_map_;
  out.rows = rows();
  out.summary = std::move(summary);
  return out;
}

}  // namespace covary
