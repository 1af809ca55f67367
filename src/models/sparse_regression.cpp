#include "covary/models/sparse_regression.hpp"

#include <fmt/format.h>

#include <cmath>
#include <utility>

#include "covary/error.hpp"
#include "covary/inference/sparse_posterior.hpp"
#include "inference/cglb.hpp"
#include "inference/one_pass.hpp"
#include "inference/pitc.hpp"
#include "models/row_summaries.hpp"
#include "models/sparse_regression_impl.hpp"

namespace covary {
namespace {

// The bound of CGLB at a v that conjugate gradients find from zero, so that it is a function of the
// parameters alone; `v` gets that v.
SparseEvaluation cglb_bound(const SparseProblem& problem, const SparseValues& values,
                            Jitter& jitter, SweepGradient* gradient, Matrix* v) {
  Matrix solution;
  improve_cglb(problem, values, solution, jitter, {200, 1e-7});
  CglbEvaluation e = evaluate_cglb(problem, values, solution, jitter, gradient);
  e.sparse.value = e.lower;
  e.sparse.terms.fit = -e.lower - e.sparse.terms.complexity - e.sparse.terms.trace;
  if (v) *v = std::move(solution);
  return std::move(e.sparse);
}

}  // namespace

void SparseRegressionOptions::check() const {
  if (!(jitter >= 0.0) || !std::isfinite(jitter))
    throw InputError(fmt::format("jitter must be finite and not negative, got {}", jitter));
  if (inducing < 0)
    throw InputError(
        fmt::format("the number of inducing inputs must not be negative, got {}; 0 "
                    "takes as many as it needs",
                    inducing));
  if (subset < 0 || sample < 0 || groups < 0 || most_inducing < 1)
    throw InputError("subset, sample and groups must not be negative; most_inducing at least 1");
  if (warm_start) {
    const auto pitc = Approximation::Kind::pitc;
    if (warm_start->kind == pitc || approximation.kind == pitc)
      throw InputError("--warm-start is not available from or for pitc");
    if (inducing == 0 && Z.size() == 0)
      throw InputError("--warm-start needs a number of inducing inputs; give --inducing");
  }
  if (features.is_parametric()) {
    if (approximation.kind != Approximation::Kind::sor)
      throw InputError(fmt::format("{} features define their own model; use --model sor, not {}",
                                   features.print(), approximation.print()));
    if (inducing == 0 && Z.size() == 0)
      throw InputError(fmt::format("automatic M is not available for {} features; give --inducing",
                                   features.print()));
  }
  if (selection == Selection::bound_gain && approximation.kind != Approximation::Kind::vfe)
    throw InputError(
        fmt::format("selection by bound_gain is by the bound of vfe; the approximation is {}: "
                    "choose information_gain or greedy_variance",
                    approximation.print()));
  if (placement_rows < 1)
    throw InputError(fmt::format("placement_rows must be positive, got {}", placement_rows));
  if (placement == Placement::expected_kl) {
    if (approximation.kind != Approximation::Kind::vfe)
      throw InputError(
          fmt::format("placement by expected_kl is by the KL of vfe; the approximation is {}",
                      approximation.print()));
    if (warm_start)
      throw InputError("--placement expected_kl cannot be combined with --warm-start");
    if (inducing == 0 && Z.size() == 0)
      throw InputError(
          "--placement expected_kl needs a number of inducing inputs; give --inducing");
  }
  if (!(bracket > 0.0)) throw InputError(fmt::format("bracket must be positive, got {}", bracket));
  if (!(planned_kl > 0.0))
    throw InputError(fmt::format("planned_kl must be positive, got {}", planned_kl));
  training.check();
}

SparseRegression::SparseRegression(ConstRows X, ConstRows Y, SparseRegressionOptions options,
                                   ConstVector point_noise)
    : impl_(std::make_unique<Impl>(X, Y, std::move(options), point_noise)) {}
SparseRegression::SparseRegression(std::shared_ptr<FileRows> rows, SparseRegressionOptions options)
    : impl_(std::make_unique<Impl>(std::move(rows), std::move(options))) {}
SparseRegression::SparseRegression(SparseRegression&&) noexcept = default;
SparseRegression& SparseRegression::operator=(SparseRegression&&) noexcept = default;
SparseRegression::~SparseRegression() = default;

Parameters& SparseRegression::parameters() { return impl_->parameters_; }
const Parameters& SparseRegression::parameters() const { return impl_->parameters_; }
void SparseRegression::set_parameters(Parameters parameters, FeaturesPtr features) {
  impl_->set_parameters(std::move(parameters), std::move(features));
}
void SparseRegression::start_from(const SparseRegression& other) {
  impl_->start_from(*other.impl_);
}
const FeaturesPtr& SparseRegression::features() const { return impl_->features_; }
const Scaling& SparseRegression::input_scaling() const { return impl_->input_scaling_; }
const Scaling& SparseRegression::output_scaling() const { return impl_->output_scaling_; }
const SparseRegressionOptions& SparseRegression::options() const { return impl_->options_; }
Index SparseRegression::rows() const { return impl_->rows_->rows(); }
double SparseRegression::log_jacobian() const { return impl_->log_jacobian_; }
const std::vector<std::string>& SparseRegression::warnings() const { return impl_->warnings_; }
SparseEvaluation SparseRegression::evaluate() const { return impl_->evaluate(); }
Certificate SparseRegression::certificate() const { return impl_->certificate(); }
double SparseRegression::mean_kl() const { return impl_->mean_kl(); }
SparseRegression::Planned SparseRegression::plan() const { return impl_->plan(); }
std::optional<double> SparseRegression::objective(const Vector& u, Vector* gradient,
                                                  Jitter& jitter) const {
  return impl_->objective(u, gradient, jitter);
}
void SparseRegression::resume(TrainingState state) { impl_->resume_ = std::move(state); }
RegressionFit SparseRegression::fit() {
  Trainer trainer(impl_->options_.training, std::exchange(impl_->resume_, {}));
  return impl_->fit(trainer);
}
RegressionFit SparseRegression::fit(Trainer& trainer) { return impl_->fit(trainer); }

SparseValues SparseRegression::Impl::unpack(ConstVector values) const {
  const Index K = options_.kernel.parameter_count(X_.cols()),
              B = options_.mean.basis_count(X_.cols()), P = Y_.cols();
  SparseValues v{values.head(K), values.tail(features_->parameter_count()), values(K), {}};
  if (B > 0) v.mean_weights = Eigen::Map<const RowMatrix>(values.data() + K + 1, B, P);
  return v;
}

std::shared_ptr<const OnePassStatistics> SparseRegression::Impl::one_pass(ConstVector z) const {
  if (options_.route != Route::automatic || !takes_one_pass(options_.approximation) ||
      !features_->one_pass() || trains_features())
    return nullptr;
  const std::lock_guard lock(sums_->mutex);
  if (sums_->features != features_ || sums_->z != z) {
    auto rows = one_pass_statistics(*features_, z, options_.mean, *rows_);
    sums_->features = features_;
    sums_->z = z;
    sums_->rows = rows ? std::make_shared<const OnePassStatistics>(std::move(*rows)) : nullptr;
  }
  return sums_->rows;
}

SparseEvaluation SparseRegression::Impl::evaluate(ConstVector values, Jitter& jitter,
                                                  Vector* values_bar, Matrix* cglb_v) const {
  const SparseValues v = unpack(values);
  const bool pitc = !group_starts_.empty();
  const Sweep sweep = pitc ? group_sweep(*rows_, group_starts_, features_->size())
                           : Sweep::for_features(*rows_, features_->size());
  const SparseProblem problem{options_.approximation,
                              features_.get(),
                              &options_.kernel,
                              &options_.mean,
                              &sweep,
                              columns_,
                              options_.route,
                              trains_features() && values_bar};
  SweepGradient g;
  SweepGradient* out = values_bar ? &g : nullptr;
  const bool cglb = options_.approximation.kind == Approximation::Kind::cglb;
  const auto sums = one_pass(v.z);
  SparseEvaluation e = pitc   ? evaluate_pitc(problem, group_starts_, v, jitter, out)
                       : sums ? evaluate_one_pass(problem, *sums, v, jitter, out)
                       : cglb ? cglb_bound(problem, v, jitter, out, cglb_v)
                              : evaluate_sparse(problem, v, jitter, out);
  if (values_bar) {
    values_bar->resize(values.size());
    const RowMatrix W_bar = g.mean_bar;
    *values_bar << g.theta_bar, g.noise_bar, Eigen::Map<const Vector>(W_bar.data(), W_bar.size()),
        g.z_bar;
  }
  return e;
}

SparseEvaluation SparseRegression::Impl::evaluate() const {
  Jitter jitter{options_.jitter};
  SparseEvaluation e = evaluate(parameters_.values(), jitter, nullptr);
  e.value -= log_jacobian_;
  return e;
}

Certificate SparseRegression::Impl::certificate() const {
  Certificate c = bracket();
  for (double* value : {&c.lower, &c.upper, &c.elbo}) *value -= log_jacobian_;
  return c;
}

double SparseRegression::Impl::bound() const {
  Jitter jitter{options_.jitter};
  return evaluate(parameters_.values(), jitter, nullptr).value;
}

std::optional<double> SparseRegression::Impl::objective(const Vector& u, Vector* gradient,
                                                        Jitter& jitter) const {
  return minus_log_posterior(parameters_, u, gradient, [&](ConstVector values, Vector* bar) {
    return std::optional(evaluate(values, jitter, bar).value);
  });
}

RegressionFit SparseRegression::Impl::fit(Trainer& trainer) {
  Jitter jitter{options_.jitter};
  settings_->look(parameters_, options_.inducing > 0 || options_.Z.size() > 0);
  Minimum best;
  if (options_.training.max_iterations > 0) best = train_from_starts(trainer, jitter);

  Jitter final_jitter = jitter;
  const Vector values = parameters_.values();
  Matrix v;  // of CGLB
  SparseEvaluation e = evaluate(values, final_jitter, nullptr, &v);
  Summary& summary = best.summary;
  summary.to_log_density(log_jacobian_);
  summary.objective = options_.approximation.is_bound() ? "elbo" : "log_marginal_likelihood";
  summary.value = e.value - log_jacobian_;
  trainer.complete(summary);
  summary.jitter = e.jitter;
  static const char* const routes[] = {"automatic", "fast", "safe", "stable", "one-pass"};
  summary.route = fmt::format(
      "{}: {} route, ρ = {:.1e}, smallest eigenvalue of Kuu {:.1e}", options_.approximation.print(),
      routes[static_cast<int>(e.terms.route)], e.terms.rho, e.terms.smallest_eigenvalue);
  summary.warnings.insert(summary.warnings.begin(), warnings_.begin(), warnings_.end());
  const SparseValues own = unpack(values);
  for (auto& line : features_->warnings(own.theta.data(), own.z.data(), X_))
    summary.warnings.push_back(std::move(line));
  const double floor = noise_only_evidence(*rows_);
  if (e.value <= floor && options_.training.max_iterations > 0) {
    summary.converged = false;
    summary.warnings.push_back(
        "no signal found: the model explains the outputs no better than "
        "noise alone");
  }
  SparsePosterior posterior({options_.approximation, options_.kernel, options_.mean, features_,
                             unpack(values), std::move(e.Luu), e.jitter, std::move(e.factors),
                             v.rows() ? X_ : RowMatrix(), std::move(v)});
  RegressionFit out(std::move(posterior), input_scaling_, output_scaling_);
  out.parameters = parameters_;
  out.data_rows = rows_->rows();
  out.diagnostics = {{"inducing", static_cast<double>(features_->size())},
                     {"complexity", e.terms.complexity + log_jacobian_},
                     {"fit", e.terms.fit},
                     {"trace", e.terms.trace},
                     {"residual_variance", e.terms.residual},
                     {"mean_residual_ratio", e.terms.mean_ratio},
                     {"rho", e.terms.rho},
                     {"noise_only", floor - log_jacobian_}};
  if (options_.approximation.is_bound() && !trainer.stopped()) {
    const Certificate gap = bracket();
    summary.upper_bound = gap.upper - log_jacobian_;
    out.diagnostics.emplace_back("bracket", gap.upper - e.value);
    out.diagnostics.emplace_back("certified", gap.certified ? 1.0 : 0.0);
    if (gap.mean_error_sd) out.diagnostics.emplace_back("mean_error_sd", *gap.mean_error_sd);
    if (gap.variance_ratio) {
      out.diagnostics.emplace_back("variance_ratio_low", gap.variance_ratio->first);
      out.diagnostics.emplace_back("variance_ratio_high", gap.variance_ratio->second);
    }
    if (!gap.note.empty()) say(gap.note);
  }
  if (options_.placement == Placement::expected_kl && !trainer.stopped())
    out.diagnostics.emplace_back("expected_kl", mean_kl());
  add_plan(e, out.diagnostics);
  // A sparse fit of all rows should predict as well as an exact fit of some.
  if (guard_) {
    const double ours = held_out_score(out.posterior);
    out.diagnostics.emplace_back("nlpd_of_subset_fit", *guard_);
    out.diagnostics.emplace_back("nlpd", ours);
    if (ours > *guard_ + 0.05)
      summary.warnings.push_back(
          fmt::format("an exact fit of {} rows predicts better (nlpd {:.3f}, this model {:.3f}, "
                      "scaled outputs): "
                      "use more inducing inputs",
                      std::min(options_.subset, X_.rows()), *guard_, ours));
  }
  out.value = summary.value;
  out.log_prior = parameters_.log_prior(values);
  out.summary = std::move(summary);
  return out;
}

}  // namespace covary
