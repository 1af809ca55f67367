// How an SVGP is trained: all rows at once by L-BFGS with q at its optimum, or by minibatches
// (svgp_batches.cpp); and what comes of it.
#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "covary/error.hpp"
#include "inference/inducing_posterior.hpp"
#include "inference/uncollapsed_steps.hpp"
#include "models/choose_again.hpp"
#include "models/q_blocks.hpp"
#include "models/starts.hpp"
#include "models/svgp_impl.hpp"
#include "training/best_start.hpp"

namespace covary {

Problem Svgp::Impl::problem(NaturalGaussian& q, Jitter& jitter) {
  Problem out{&parameters_, &jitter, [this, &q, &jitter](ConstVector values, Vector* bar) {
                return settled_bound(values, bar, jitter, q);
              }};
  out.blocks = [&q] { return blocks_of(q); };
  out.set_blocks = [this, &q](const Blocks& b) { q = q_of(b, prior()); };
  return out;
}

// With Z held, then Z chosen again at the parameters found if that does not lower the bound, then
// all together, from several starts where they were asked for.
Summary Svgp::Impl::train_full(Trainer& trainer, NaturalGaussian& q, Jitter& jitter) {
  std::optional<Summary> before;
  if (options_.Z.size() == 0 && trains_features()) {
    const auto first =
        trainer.minimise_held(problem(q, jitter), is_feature,
                              {std::min<Index>(options_.training.max_iterations / 2, 15)});
    if (first) before = first->summary;
    if (options_.features.is_points() && looks_at_parameters(options_.selection) &&
        !options_.separate_kernels && !settings_->holds_any()) {
      const auto features = features_;
      const Parameters found = parameters_;
      const Index M = inducing();
      const bool other = choose_again([this] { return elbo(); },
                                      [&] {
                                        choose_features(M);
                                        return inducing() == M;
                                      },
                                      [&] {
                                        features_ = features;
                                        parameters_ = found;
                                      });
      if (other) q = prior();
    }
    jitter = Jitter{options_.jitter};
  }
  return trainer
      .minimise_from(
          problem(q, jitter), starts(),
          [&](Index r) { return perturbed_start(parameters_, r, options_.seed); },
          Trainer::rest_of(options_.training, std::move(before)))
      .summary;
}

// By minibatches, from several starts where they were asked for: the best by the mean that Adam
// keeps of the bound.
Summary Svgp::Impl::train_batches(Trainer& trainer, NaturalGaussian& q, Jitter& jitter) {
  const Parameters given = parameters_;
  return best_start(
             trainer, 0, starts(),
             [&](Index start) {
               if (start > 0)
                 parameters_.set_values(
                     parameters_.constrain(perturbed_start(given, start, options_.seed)));
               return train_batches_once(trainer, q, jitter);
             },
             parameters_, q, jitter)
      .summary;
}

// The model that has this map, at what was said of the parameters of this one.
void Svgp::Impl::see(InputMap map) {
  SvgpOptions o = options_;
  o.input_map = std::move(map);
  Impl made(untrained_->X, untrained_->Y, std::move(o));
  untrained_->settle(parameters_, made.parameters_);
  made.resume_ = std::move(resume_);
  *this = std::move(made);
}

void Svgp::Impl::take_latent_space(const FitNode& from) {
  if (!untrained_) return;
  InputMap map =
      untrained_->of(from, with_function_options<FunctionOptions>(options_), input_scaling_);
  if (map) see(std::move(map));
}

GeneralisedFit Svgp::Impl::fit() {
  if (rows_->outputs() > 1 && options_.likelihood.classes() > 0 &&
      options_.likelihood.functions() > 1)
    throw Unsupported(
        fmt::format("predictions of several outputs are not available for {}; elbo() and "
                    "objective() are; fit each "
                    "output on its own",
                    options_.likelihood.print()));
  Trainer trainer(options_.training, std::exchange(resume_, {}));
  if (untrained_) {
    std::vector<std::string> warnings;
    see(untrained_->train(with_function_options<FunctionOptions>(options_), input_scaling_, trainer,
                          warnings));
    warnings_.insert(warnings_.end(), warnings.begin(), warnings.end());
  }
  NaturalGaussian q = prior();
  Jitter jitter{options_.jitter};
  settings_->look(parameters_, true);
  const bool train = options_.training.max_iterations > 0 && parameters_.free_size() > 0;
  const bool full = batch_ == rows_->rows();
  QOptions last = q_options();
  Summary summary;
  if (train && full) {
    summary = train_full(trainer, q, jitter);
  } else if (train) {
    summary = train_batches(trainer, q, jitter);
    last.max_iterations = std::max<Index>(1, options_.training.final_sweeps);
  }

  // q stays as it is: what remains is one pass over the rows
  if (trainer.stopped() || (train && !full && options_.training.final_sweeps == 0)) {
    last.tolerance = 1e300;
    last.conjugate = false;
  }
  QOptimum best = maximise(parameters_.values(), q, jitter, nullptr, last);
  if (!best.converged && (full || !train))
    summary.warnings.push_back(fmt::format(
        "q did not settle in {} steps (it still moves by {:.2g}); the bound holds all the same",
        best.iterations, best.distance));
  summary.to_log_density(log_jacobian_);
  summary.value = best.at.value - log_jacobian_;
  trainer.complete(summary);
  summary.jitter = best.at.jitter;
  GeneralisedFit out = described(parameters_, q.q(), std::move(best.at.Luu), std::move(summary));
  out.diagnostics.insert(out.diagnostics.end(), {{"fit", best.at.fit - log_jacobian_},
                                                 {"kl", best.at.kl},
                                                 {"q_steps", static_cast<double>(best.iterations)},
                                                 {"q_distance", best.distance}});
  return out;
}

NaturalGaussian Svgp::Impl::q_at(const TrainingState& state) const {
  return q_of(state.blocks, prior());
}

GeneralisedFit Svgp::Impl::at(const TrainingState& state) const {
  const AdamState* adam = state.minibatches ? &state.minibatches->adam : nullptr;
  if (!adam && !state.run) throw InputError("no training step has been made");
  Parameters parameters = parameters_;
  parameters.set_values(parameters.constrain(adam ? adam->u : state.run->u));
  const Unpacked values = unpack(parameters.values());
  const Sweep sweep(*rows_, 128);
  Jitter jitter = state.jitter;
  std::vector<Matrix> Luu;
  for (Cholesky& c : factor_parts(problem(sweep, values, false), values.values, jitter))
    Luu.push_back(std::move(c.L));
  Summary summary;
  summary.reason = "training is under way";
  summary.value = -(adam ? adam->mean : state.run->value) - log_jacobian_;
  summary.iterations = adam ? state.minibatches->step : state.run->iterations;
  for (const TrainingState::Part& part : state.done) summary.iterations += part.summary.iterations;
  summary.jitter = jitter.added;
  summary.seconds = state.seconds;
  return described(parameters, q_at(state).q(), std::move(Luu), std::move(summary));
}

GeneralisedFit Svgp::Impl::described(const Parameters& parameters, const WhitenedGaussian& q,
                                     std::vector<Matrix> Luu, Summary summary) const {
  summary.objective = "elbo";
  summary.route = batch_ == rows_->rows()
                      ? fmt::format("all {} rows, q at its optimum ({})", rows_->rows(),
                                    options_.covariance.print())
                      : fmt::format("minibatches of {} of {} rows, natural gradients for q ({})",
                                    batch_, rows_->rows(), options_.covariance.print());
  summary.warnings.insert(summary.warnings.begin(), warnings_.begin(), warnings_.end());
  const Vector values = parameters.values();
  const Unpacked at = unpack(values);
  for (std::size_t i = 0; i < features_.size(); ++i)
    for (auto& line : features_[i]->warnings(at.values.theta[i].data(), at.values.z[i].data(), X_))
      summary.warnings.push_back(std::move(line));
  InducingPosteriorParts parts;
  for (std::size_t i = 0; i < features_.size(); ++i)
    parts.parts.push_back({options_.kernel, at.values.theta[i], features_[i], at.values.z[i],
                           std::move(Luu[i]), summary.jitter});
  parts.mean = options_.mean;
  parts.mean_weights = at.values.mean_weights;
  parts.q = whole(q);
  parts.mixing = at.mixing;
  GeneralisedFit out("svgp", InducingPosterior(std::move(parts)), options_.likelihood,
                     at.likelihood);
  out.input_scaling = input_scaling_;
  out.output_scaling = output_scaling_;
  out.parameters = parameters;
  out.value = summary.value;
  out.summary = std::move(summary);
  out.log_prior = parameters.log_prior(values);
  out.classes = options_.classes;
  out.rows = rows_->rows();
  out.input_map = input_map_;
  out.diagnostics = {{"inducing", static_cast<double>(inducing())},
                     {"batch", static_cast<double>(batch_)}};
  return out;
}

}  // namespace covary
