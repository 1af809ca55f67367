#include "covary/models/gplvm.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "covary/error.hpp"
#include "inference/gaussian_rows.hpp"
#include "inference/recognised_inputs.hpp"
#include "models/gplvm_impl.hpp"
#include "models/latent_views.hpp"
#include "models/times.hpp"
#include "models/wide_outputs.hpp"

namespace covary {
namespace {

// Rows of a block: each costs O(M²Q), so that few of them share a thread's work well; a multiple of
// the sixteen that Ψ2 takes together, and no more than 128, of which sums over rows are short.
Index block_rows(Index rows) { return std::clamp<Index>((rows / 8 + 15) / 16 * 16, 16, 128); }

}  // namespace

void GplvmOptions::check() const {
  if (latent < 1)
    throw InputError(fmt::format("the latent space needs at least one dimension, got {}", latent));
  if (features.stacked || !features.kind->gaussian_inputs)
    throw Unsupported(fmt::format(
        "a latent-variable model takes features that have expectations under Gaussian "
        "inputs, {}; not {}",
        list_of_kinds([](const FeatureKind& k) { return k.gaussian_inputs; }), features.print()));
  if (inducing < 0)
    throw InputError(fmt::format("a mapping needs at least one inducing input, or 0 for {}; got {}",
                                 usual_latent_inducing, inducing));
  if (!(snr > 1.0)) throw InputError(fmt::format("snr must exceed 1, got {}", snr));
  if (!(start_variance >= 0.0))
    throw InputError(fmt::format("start_variance must be positive, or 0 for the usual one; got {}",
                                 start_variance));
  if (fixed_point < -1 || held_iterations < 0 || first_start < 0)
    throw InputError("held_iterations ≥ 0, first_start ≥ 0, fixed_point ≥ −1 required");
  if (times.size() && knows_inputs())
    throw InputError("give either times or known inputs (given, prior_mean), not both");
  if (back_constraint) {
    back_constraint->check();
    if (times.size() || knows_inputs())
      throw InputError(
          "a back constraint needs the standard normal prior of the latent inputs: omit times, "
          "known inputs and prior means, or the back constraint");
  }
  training.check();
}

Gplvm::Gplvm(ConstRows Y, GplvmOptions options)
    : impl_(std::make_unique<Impl>(Y, std::move(options))) {}
Gplvm::Gplvm(Gplvm&&) noexcept = default;
Gplvm& Gplvm::operator=(Gplvm&&) noexcept = default;
Gplvm::~Gplvm() = default;

Parameters& Gplvm::parameters() { return impl_->parameters_; }
const Parameters& Gplvm::parameters() const { return impl_->parameters_; }
const GplvmOptions& Gplvm::options() const { return impl_->options_; }
const std::vector<std::string>& Gplvm::warnings() const { return impl_->warnings_; }
Index Gplvm::rows() const { return impl_->latent_->rows(); }
const FeaturesPtr& Gplvm::features() const { return impl_->views_.front().features; }
double Gplvm::elbo() const {
  Jitter jitter{impl_->options_.jitter};
  return impl_->evaluate(impl_->parameters_.values(), jitter, nullptr) - impl_->log_jacobian_;
}
std::optional<double> Gplvm::objective(const Vector& u, Vector* gradient, Jitter& jitter) const {
  return impl_->objective(u, gradient, jitter);
}
Problem Gplvm::problem(Jitter& jitter) { return impl_->problem(jitter); }
void Gplvm::resume(TrainingState state) { impl_->resume_ = std::move(state); }
GplvmFit Gplvm::fit() {
  Trainer trainer(impl_->options_.training, std::exchange(impl_->resume_, {}));
  GplvmFit out = impl_->fit(trainer);
  trainer.complete(out.summary);
  return out;
}
GplvmFit Gplvm::fit(Trainer& trainer) { return impl_->fit(trainer); }

Gplvm::Impl::Impl(ConstRows Y, GplvmOptions options)
    : options_(std::move(options)),
      kept_(std::make_shared<Shelf<KeptPsi2>>([] { return KeptPsi2(); })) {
  options_.check();
  take(Y);
  const Index N = Y.rows(), Q = options_.latent;
  if (options_.start_variance == 0.0) options_.start_variance = options_.times.size() ? 0.2 : 0.5;
  if (options_.inducing == 0) options_.inducing = usual_latent_inducing;
  if (options_.training.starts == 0) options_.training.starts = N <= 500 ? 4 : N <= 2000 ? 2 : 1;
  if (options_.times.size()) {
    if (options_.times.rows() != N)
      throw InputError(fmt::format("there are {} times for {} rows", options_.times.rows(), N));
    dynamics_ = std::make_shared<DynamicalInputs>(DynamicalOptions{
        options_.dynamics, options_.times, options_.sequences, Q, options_.dynamics_start});
    if (!options_.times_are_inputs)
      check_times(options_.times, dynamics_->options().sequences, options_.dynamics, warnings_);
    latent_ = dynamics_;
  } else if (options_.back_constraint) {
    Index P = 0;
    for (const View& v : views_) P += v.scaling.cols();
    RowMatrix all(N, P);
    for (Index at = 0; const View& v : views_) {
      all.middleCols(at, v.scaling.cols()) = v.all_Y.size() ? v.all_Y : v.Y;
      at += v.scaling.cols();
    }
    latent_ = recognised_inputs(make_recognition(*options_.back_constraint, std::move(all), Q));
  } else {
    latent_ = factorised_inputs({N, Q, options_.given, options_.prior_mean, options_.prior_variance,
                                 options_.prior_shares, options_.train_prior_variance});
  }
  if (!GaussianExpectations::closed(options_.kernel, Q))
    warnings_.push_back(
        fmt::format("the expectations of {} under Gaussian inputs have no closed form: a fixed "
                    "quadrature rule is used, and the bound holds for that rule only",
                    options_.kernel.print()));
  if (const RowMatrix& m = options_.start_mean; m.size() && (m.rows() != N || m.cols() != Q))
    throw InputError(
        fmt::format("start_mean is {}×{}, the latent inputs are {}×{}", m.rows(), m.cols(), N, Q));
  declare(start_means(options_.first_start), options_.seed);
  declared_ = parameters_;
}

void Gplvm::Impl::take(ConstRows Y) {
  check_latent_outputs(Y);
  for (LatentView& view : checked_views(options_.views, Y.cols())) {
    View v;
    const RowMatrix own = Y(Eigen::all, view.columns);
    ScalingFit scaling = fit_scaling(own, options_.scale_outputs);
    for (auto& w : scaling.warnings) warnings_.push_back(std::move(w));
    log_jacobian_ += scaling.scaling.log_jacobian(own);
    v.Y = scaling.scaling.apply(own);
    v.scaling = std::move(scaling.scaling);
    if (is_wide(v.Y)) {
      v.all_Y = std::move(v.Y);
      v.Y = outputs_factor(v.all_Y);
    }
    v.view = std::move(view);
    views_.push_back(std::move(v));
  }
}

std::string Gplvm::Impl::path(const View& v, const std::string& rest) const {
  return views_.size() == 1 ? rest : fmt::format("views.{}.{}", v.view.name, rest);
}

SparseValues Gplvm::Impl::unpack(const View& v, ConstVector values) const {
  const Index K = options_.kernel.parameter_count(options_.latent);
  return {values.segment(v.offset, K),
          values.segment(v.offset + K + 1, v.features->parameter_count()), values(v.offset + K),
          Matrix()};
}

double Gplvm::Impl::evaluate(ConstVector values, Jitter& jitter, Vector* values_bar,
                             std::vector<SparseEvaluation>* evaluations,
                             GaussianRowGradient* of_latent) const {
  static const Mean zero;
  const LatentMarginals q = latent_->marginals(values.data());
  if (values_bar) *values_bar = Vector::Zero(values.size());
  GaussianRowGradient of_all;
  double value = -q.kl;
  KeptPsi2 kept = kept_->take();
  for (const View& v : views_) {
    const GaussianRows rows(q.mean, q.variance, v.Y);
    const Sweep sweep(rows, block_rows(q.mean.rows()));
    SparseProblem problem{"vfe", v.features.get(), &options_.kernel, &zero, &sweep, v.columns};
    problem.silent = v.silent();
    SweepGradient g;
    GaussianRowGradient of_rows;
    SparseEvaluation e =
        evaluate_gaussian_rows(problem, unpack(v, values), jitter, values_bar ? &g : nullptr,
                               values_bar ? &of_rows : nullptr, &kept);
    value += e.value;
    if (values_bar) {
      const Index K = g.theta_bar.size();
      values_bar->segment(v.offset, K) = g.theta_bar;
      (*values_bar)(v.offset + K) = g.noise_bar;
      values_bar->segment(v.offset + K + 1, g.z_bar.size()) = g.z_bar;
      if (&v == &views_.front()) {
        of_all = std::move(of_rows);
      } else {
        of_all.mean_bar += of_rows.mean_bar;
        of_all.variance_bar += of_rows.variance_bar;
      }
    }
    if (evaluations) evaluations->push_back(std::move(e));
  }
  kept_->put(std::move(kept));
  if (values_bar)
    latent_->pullback(values.data(), of_all.mean_bar, of_all.variance_bar, values_bar->data());
  if (of_latent) *of_latent = std::move(of_all);
  return value;
}

std::optional<double> Gplvm::Impl::objective(const Vector& u, Vector* gradient,
                                             Jitter& jitter) const {
  return minus_log_posterior(parameters_, u, gradient, [&](ConstVector values, Vector* bar) {
    return std::optional(evaluate(values, jitter, bar));
  });
}

}  // namespace covary
