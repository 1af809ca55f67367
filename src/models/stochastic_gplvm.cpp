#include "covary/models/stochastic_gplvm.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "covary/error.hpp"
#include "models/stochastic_gplvm_impl.hpp"
#include "statistics/sampled_rows.hpp"

namespace covary {
namespace {

constexpr Index usual_batch = 256;

void require(bool holds, const char* option, double value, const char* rule) {
  if (!holds) throw InputError(fmt::format("{} is {}; it must be {}", option, value, rule));
}

// What training starts from, evaluated and never trained itself.
GplvmOptions start_of(const StochasticGplvmOptions& o, bool gaussian) {
  GplvmOptions out = o.gplvm;
  out.training.starts = 1;
  out.training.max_iterations = 0;
  if (!gaussian) out.scale_outputs = ScaleMode::global;
  return out;
}

}  // namespace

void StochasticGplvmOptions::check() const {
  gplvm.check();
  if (!gplvm.views.empty() || gplvm.times.size() || gplvm.knows_inputs() || gplvm.back_constraint)
    throw Unsupported(
        "minibatches and other likelihoods are available for one view whose latent inputs have the "
        "standard normal prior; leave out batch and likelihood for views, dynamics, known inputs "
        "and a back constraint");
  if (likelihood.functions() != 1)
    throw Unsupported(
        fmt::format("{} has {} functions behind a datum; a latent-variable model "
                    "takes likelihoods of one",
                    likelihood.print(), likelihood.functions()));
  likelihood.require(Inference::svgp);
  require(local_steps >= 1, "local_steps", static_cast<double>(local_steps), "at least 1");
  require(local_rate > 0.0, "local_rate", local_rate, "positive");
  require(draws >= 2 && draws % 2 == 0, "draws", static_cast<double>(draws), "even and positive");
}

StochasticGplvm::StochasticGplvm(ConstRows Y, StochasticGplvmOptions options)
    : impl_(std::make_unique<Impl>(Y, std::move(options))) {}
StochasticGplvm::StochasticGplvm(StochasticGplvm&&) noexcept = default;
StochasticGplvm& StochasticGplvm::operator=(StochasticGplvm&&) noexcept = default;
StochasticGplvm::~StochasticGplvm() = default;

Parameters& StochasticGplvm::parameters() { return impl_->parameters_; }
const Parameters& StochasticGplvm::parameters() const { return impl_->parameters_; }
const StochasticGplvmOptions& StochasticGplvm::options() const { return impl_->options_; }
const std::vector<std::string>& StochasticGplvm::warnings() const { return impl_->warnings_; }
Index StochasticGplvm::rows() const { return impl_->rows(); }
Index StochasticGplvm::batch() const { return impl_->batch(); }
NaturalGaussian StochasticGplvm::prior() const { return impl_->prior(); }
double StochasticGplvm::evaluate(std::span<const Index> rows, const WhitenedGaussian& q,
                                 Jitter& jitter, Gradient* gradient) const {
  return impl_->evaluate(rows, q, jitter, gradient);
}
double StochasticGplvm::elbo() const {
  Jitter jitter{impl_->options_.gplvm.jitter};
  NaturalGaussian q = prior();
  return impl_->best_q(q, jitter, 500).at.value - impl_->log_jacobian_;
}
void StochasticGplvm::resume(TrainingState state) { impl_->resume_ = std::move(state); }
GplvmFit StochasticGplvm::fit() { return impl_->fit(); }

StochasticGplvm::Impl::Impl(ConstRows Y, StochasticGplvmOptions options)
    : options_((options.check(), std::move(options))),
      gplvm_(working_outputs(Y), start_of(options_, is_gaussian())) {
  Index& batch = options_.gplvm.training.batch;
  if (batch == 0) batch = usual_batch;
  batch = std::min(batch, Y.rows());
  if (is_gaussian()) {
    const ScalingFit scaling = fit_scaling(Y, options_.gplvm.scale_outputs);
    Y_ = scaling.scaling.apply(Y);
    log_jacobian_ = scaling.scaling.log_jacobian(Y);
    warnings_ = gplvm_.warnings();
  } else {
    Y_ = Y;
    for (Index p = 0; p < Y.cols(); ++p) {
      if (Y.col(p).array().isNaN().all())
        throw InputError(fmt::format("column {} has no observed output; drop it", p));
      options_.likelihood.check(Vector(Y.col(p)));
    }
  }
  const Parameters of_likelihood = options_.likelihood.parameters();
  for (const Parameter& p : gplvm_.parameters().all()) {
    if (p.path != "likelihood.variance" || options_.likelihood.is_plain_gaussian())
      parameters_.add(p);
    else
      for (const Parameter& own : of_likelihood.all()) parameters_.add(own);
  }
  features_ = gplvm_.features();
}

// What principal components are taken of: counts by their logarithms.
RowMatrix StochasticGplvm::Impl::working_outputs(ConstRows Y) const {
  if (is_gaussian() || !(Y.array().isNaN() || Y.array() >= 0.0).all()) return Y;
  return Y.array().log1p();
}

StochasticGplvm::Impl::Batch StochasticGplvm::Impl::batch_of(std::span<const Index> rows,
                                                             const RowMatrix& mean,
                                                             const RowMatrix& variance) const {
  const std::vector<Index> chosen(rows.begin(), rows.end());
  Batch out{
      mean(chosen, Eigen::all), variance(chosen, Eigen::all), Y_(chosen, Eigen::all), {}, {}, {}};
  if (!is_gaussian())
    out.deviates = row_deviates(rows, options_.gplvm.latent, options_.draws, options_.gplvm.seed);
  out.source = std::make_unique<GaussianRows>(out.mean, out.variance, out.Y, out.deviates);
  out.sweep = std::make_unique<Sweep>(*out.source, 32);
  return out;
}

UncollapsedValues StochasticGplvm::Impl::unpack(ConstVector values, WhitenedGaussian q) const {
  const Index K = options_.gplvm.kernel.parameter_count(options_.gplvm.latent);
  return {{values.head(K)}, {values.tail(features_->parameter_count())}, Matrix(), std::move(q)};
}

UncollapsedProblem StochasticGplvm::Impl::problem(const Batch& b, ConstVector values) const {
  static const Mean zero;
  const Index K = options_.gplvm.kernel.parameter_count(options_.gplvm.latent);
  UncollapsedProblem out;
  out.parts = {{features_.get(), &options_.gplvm.kernel}};
  out.mean = &zero;
  out.sweep = b.sweep.get();
  out.scale = static_cast<double>(rows()) / static_cast<double>(b.mean.rows());
  out.guard_eigenvalue = true;
  out.likelihood =
      row_likelihood(options_.likelihood, values.segment(K, options_.likelihood.parameter_count()));
  return out;
}

double StochasticGplvm::Impl::evaluate(const Batch& b, ConstVector values,
                                       const WhitenedGaussian& q, Jitter& jitter,
                                       Gradient* gradient) const {
  const UncollapsedProblem p = problem(b, values);
  if (gradient) {
    gradient->of_q.of_factors = false;
    gradient->of_q.of_inputs = true;
  }
  const UncollapsedEvaluation e =
      evaluate_uncollapsed(p, unpack(values, q), jitter, gradient ? &gradient->of_q : nullptr);
  const auto &m = b.mean.array(), &S = b.variance.array();
  const double kl = 0.5 * (m.square() + S - S.log() - 1.0).sum();
  if (gradient) {
    gradient->mean_bar = gradient->of_q.inputs.mean_bar.array() - m;
    gradient->variance_bar = gradient->of_q.inputs.variance_bar.array() - 0.5 * (1.0 - S.inverse());
    const UncollapsedGradient& g = gradient->of_q;
    gradient->values_bar.resize(values.size());
    gradient->values_bar << g.theta_bar.front(), g.likelihood_bar, g.z_bar.front();
  }
  return e.value - p.scale * kl;
}

double StochasticGplvm::Impl::evaluate(std::span<const Index> rows, const WhitenedGaussian& q,
                                       Jitter& jitter, Gradient* gradient) const {
  const Index N = this->rows(), Q = options_.gplvm.latent;
  const Vector values = parameters_.values();
  const Eigen::Map<const RowMatrix> mean(values.data(), N, Q),
      variance(values.data() + N * Q, N, Q);
  return evaluate(batch_of(rows, mean, variance), values.tail(values.size() - 2 * N * Q), q, jitter,
                  gradient);
}

QOptimum StochasticGplvm::Impl::best_q(NaturalGaussian& q, Jitter& jitter, Index sweeps) const {
  const Index N = rows(), Q = options_.gplvm.latent;
  const Vector values = parameters_.values();
  const Eigen::Map<const RowMatrix> mean(values.data(), N, Q),
      variance(values.data() + N * Q, N, Q);
  std::vector<Index> all(static_cast<std::size_t>(N));
  std::iota(all.begin(), all.end(), Index{0});
  const Batch b = batch_of(all, mean, variance);
  const Vector shared = values.tail(values.size() - 2 * N * Q);
  UncollapsedValues at = unpack(shared, q.q());
  QOptimum out = maximise_q(problem(b, shared), at, q, jitter, nullptr,
                            {.max_iterations = sweeps, .conjugate = is_gaussian()});
  out.at.value -=
      0.5 * (mean.array().square() + variance.array() - variance.array().log() - 1.0).sum();
  return out;
}

Parameters StochasticGplvm::Impl::of_all() const {
  Parameters out;
  for (const Parameter& p : parameters_.all())
    if (!p.path.starts_with("latent.")) out.add(p);
  return out;
}

}  // namespace covary
