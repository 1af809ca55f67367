// How a latent-variable model is trained: noise and variance are held until q(X) has found its
// place, then everything moves.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "covary/error.hpp"
#include "models/feature_settings.hpp"
#include "models/gplvm_impl.hpp"
#include "models/restored.hpp"
#include "models/wide_outputs.hpp"
#include "training/best_start.hpp"

namespace covary {
namespace {

constexpr double least_slope = 1e-100;  // of a transform far out, where it has none left
// What is left of the rounding of Ψ2 in the bound, relative, at the ρ that is allowed.
constexpr double noise_of_bound = 1e-8;

bool is_of_mapping(const Parameter& p) {
  return !p.path.starts_with("latent.") && !p.path.starts_with("dynamics");
}

// Iterations of a part that some parameters are held in.
Index brief(const GplvmOptions& o) {
  return std::min(o.training.max_iterations, o.held_iterations);
}

}  // namespace

// Plain gradients see a precision of thousands beside a mean of one, and a mean whose curvature is
// that precision: natural gradients of q(X) have one unit for all. Kernels, noise and inducing
// inputs have a scale each.
void Gplvm::Impl::set_metric(LbfgsOptions& options) const {
  Index at = 0;
  for (const Parameter& p : parameters_.all()) {
    if (!p.trainable || !p.tied_to.empty()) continue;
    options.blocks.push_back(at);
    at += p.value.size();
  }
  for (const Parameter& p : parameters_.all())
    if (p.path.starts_with("latent.") && (!p.trainable || !p.tied_to.empty())) return;
  const Index n = latent_->means() + latent_->spreads();
  options.metric = [this, n](const Vector& u, const Matrix& r) {
    const Vector values = parameters_.constrain(u);
    const Vector slope =
        parameters_.pullback(u, Vector::Ones(values.size())).head(n).cwiseMax(least_slope);
    Matrix out = r;
    out.topRows(n) =
        slope.cwiseInverse().asDiagonal() *
        latent_->natural(values.data(), slope.cwiseInverse().asDiagonal() * r.topRows(n));
    return out;
  };
}

Problem Gplvm::Impl::problem(Jitter& jitter) {
  Problem out{&parameters_, &jitter, [this, &jitter](ConstVector values, Vector* bar) {
                return std::optional(evaluate(values, jitter, bar));
              }};
  out.shape = [this](LbfgsOptions& options) {
    options.relative_noise = std::max(options.relative_noise, noise_of_bound);
    set_metric(options);
  };
  return out;
}

// Noise and the kernel's variance held while q(X) finds its place.
std::optional<Minimum> Gplvm::Impl::train_held(Trainer& trainer, Jitter& jitter) {
  step_to_fixed_point(trainer, jitter);
  return trainer.minimise_held(
      problem(jitter),
      [this](const std::string& name) {
        return std::any_of(views_.begin(), views_.end(), [&](const View& v) {
          return name == path(v, "likelihood.variance") ||
                 (name.starts_with(path(v, "kernel")) && name.ends_with(".variance"));
        });
      },
      {brief(options_)});
}

// Whether a parameter stays as the caller has it: fixed, tied or set. What was merely set of the
// latent inputs is where the first start begins, and further ones lie elsewhere.
bool Gplvm::Impl::is_held(const Parameter& given, bool further_start) const {
  if (!given.trainable || !given.tied_to.empty()) return true;
  if (further_start && given.path.starts_with("latent.")) return false;
  const Vector& own = declared_.at(given.path).value;
  return own.size() != given.value.size() || own != given.value;
}

// Values of the dynamics' kernel, as they are where it has just been declared, with those that are
// held in place of them; nothing if none is.
Vector Gplvm::Impl::held_dynamics(const Parameters& given, bool further_start) const {
  std::vector<double> theta;
  bool any = false;
  for (const Parameter& p : parameters_.all()) {
    if (!p.path.starts_with("dynamics")) continue;
    const Parameter& own = given.at(p.path);
    const bool held = is_held(own, further_start);
    any |= held && own.value != p.value;
    for (const double v : held ? own.value : p.value) theta.push_back(v);
  }
  return any ? Vector(Eigen::Map<const Vector>(theta.data(), static_cast<Index>(theta.size())))
             : Vector();
}

// What the caller has said of the mappings, in parameters that were declared anew.
void Gplvm::Impl::carry_mappings(const Parameters& given) {
  Parameters all;
  for (Parameter p : parameters_.all()) {
    if (is_of_mapping(p)) {
      const Parameter& own = given.at(p.path);
      carry_settings(own, p, is_held(own, false));
      if (parameters_.contains(own.tied_to)) {
        p.tied_to = own.tied_to;
        p.ratio = own.ratio;
      }
    }
    all.add(std::move(p));
  }
  all.set_values(all.values());  // tied ones follow
  parameters_ = std::move(all);
}

// A model of the same outputs whose rows do not follow each other: it finds where they lie, and the
// dynamics begin there. Curves that have to be unfolded while they may not break are stuck more
// easily. What the caller has said of the mappings holds there too, and what is given stays.
void Gplvm::Impl::start_from_static(Index start, Trainer& trainer, Jitter& jitter) {
  const Parameters given = parameters_;
  const bool further = start > options_.first_start;
  const auto take = [&](const Parameters& found, bool of_mapping) {
    for (const Parameter& p : found.all())
      if (is_of_mapping(p) == of_mapping && !is_held(given.at(p.path), further))
        parameters_.set(p.path, p.value);
  };
  const std::uint64_t seed = options_.seed + static_cast<std::uint64_t>(start);
  const Restored own(latent_);
  const Restored dynamics(dynamics_);
  const Restored size(latent_size_);
  dynamics_ = nullptr;
  latent_ = factorised_inputs({own.before->rows(), own.before->dims()});
  declare(start_means(start), seed);
  carry_mappings(given);
  say(fmt::format("start {}: {} iterations without dynamics", start, 2 * brief(options_)));
  train_held(trainer, jitter);
  trainer.minimise(problem(jitter), {brief(options_)});
  const Parameters found = parameters_;
  const RowMatrix means = latent_->marginals(found.values().data()).mean;
  latent_ = own.before;
  declare(means, seed);
  if (const Vector theta = held_dynamics(given, further); theta.size()) {
    // The means are those of the kernel that is given.
    DynamicalOptions o = dynamics.before->options();
    o.start = theta;
    latent_ = std::make_shared<DynamicalInputs>(std::move(o));
    declare(means, seed);
    latent_ = own.before;
  }
  const Parameters begun = parameters_;
  parameters_ = given;
  take(begun, false);
  take(found, true);
}

Minimum Gplvm::Impl::train_from(Index start, Trainer& trainer, Jitter& jitter) {
  const bool train_anything = options_.held_iterations > 0 && options_.training.max_iterations > 0;
  const bool further = start > options_.first_start;
  bool given_start = true;  // of the latent inputs
  for (const Parameter& p : parameters_.all())
    if (p.path.starts_with("latent.")) given_start = given_start && is_held(p, further);
  given_start = given_start || options_.start_mean.size() || !options_.start_view.empty();
  if (dynamics_ && train_anything && !given_start) {
    start_from_static(start, trainer, jitter);
    jitter = Jitter{options_.jitter};
  } else if (further) {
    // Other latent inputs and features; what the caller has set, fixed, tied or given a prior
    // stays.
    Parameters given = parameters_;
    declare(start_means(start), options_.seed + static_cast<std::uint64_t>(start));
    for (const Parameter& p : parameters_.all())
      if ((p.path.starts_with("latent.") || p.path.find("features.") != std::string::npos) &&
          given.at(p.path).trainable && given.at(p.path).tied_to.empty())
        given.set(p.path, p.value);
    parameters_ = std::move(given);
  }
  std::optional<Minimum> held;
  if (train_anything) {
    say(fmt::format("start {}: {} iterations with the noise and the kernel's variance held", start,
                    brief(options_)));
    held = train_held(trainer, jitter);
    jitter = Jitter{options_.jitter};  // what the way here needed is not needed where it ended
  }
  step_to_fixed_point(trainer, jitter);
  say(fmt::format("start {}: all parameters", start));
  return trainer.minimise(problem(jitter),
                          {.before = held ? std::optional(held->summary) : std::nullopt});
}

GplvmFit Gplvm::Impl::fit(Trainer& trainer) {
  Jitter jitter{options_.jitter};
  Minimum best = best_start(
      trainer, options_.first_start, options_.training.starts,
      [&](Index start) { return train_from(start, trainer, jitter); }, parameters_, views_, jitter);
  return finished(std::move(best), jitter);
}

GplvmFit Gplvm::Impl::finished(Minimum best, Jitter& jitter) const {
  const Vector values = parameters_.values();
  std::vector<SparseEvaluation> evaluations;
  const double value = evaluate(values, jitter, nullptr, &evaluations);
  const LatentMarginals q = latent_->marginals(values.data());
  Summary& summary = best.summary;
  summary.to_log_density(log_jacobian_);
  summary.objective = "elbo";
  summary.value = value - log_jacobian_;
  summary.jitter = evaluations.front().jitter;
  summary.route = fmt::format("Gaussian inputs: by Ψ2, ρ = {:.1e}", evaluations.front().terms.rho);
  summary.warnings.insert(summary.warnings.begin(), warnings_.begin(), warnings_.end());
  GplvmFit out;
  if (views_.size() > 1) out.model = "mrd";
  for (std::size_t i = 0; i < views_.size(); ++i) {
    const View& v = views_[i];
    SparseEvaluation& e = evaluations[i];
    SparseValues at = unpack(v, values);
    const double ratio = v.mean_square() / at.noise;
    // Of a regression the noise is what it is.
    if (ratio < 10.0 && options_.prior_mean.size() == 0 && !options_.times_are_inputs)
      summary.warnings.push_back(fmt::format(
          "{}the signal is only {:.1f} times the noise: the model may have explained the outputs "
          "as noise; try more starts, a higher snr or more held iterations",
          v.view.name.empty() ? "" : v.view.name + ": ", ratio));
    if (v.all_Y.size())
      e.factors = {with_all_columns(e.factors.front(), v.all_Y, *v.features, at, e.Luu, q)};
    out.mappings.push_back(
        {v.view,
         SparsePosterior({"vfe", options_.kernel, Mean(), v.features, std::move(at),
                          std::move(e.Luu), e.jitter, std::move(e.factors)}),
         v.scaling});
  }
  out.mean = q.mean;
  out.variance = q.variance;
  out.kl_of_dims = q.kl_of_dims;
  if (dynamics_) {
    out.dynamics = dynamics_;
    out.dynamics_values = values.head(latent_size_);
  }
  out.parameters = parameters_;
  out.value = summary.value;
  out.log_prior = parameters_.log_prior(values);
  out.summary = std::move(summary);
  return out;
}

}  // namespace covary
