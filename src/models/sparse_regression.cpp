#include "covary/models/sparse_regression.hpp"

#include <fmt/format.h>

#include <chrono>
#include <cmath>
#include <numbers>
#include <utility>

#include "covary/error.hpp"
#include "covary/inference/cglb.hpp"
#include "covary/inference/pitc.hpp"
#include "covary/inference/sparse_posterior.hpp"
#include "models/checks.hpp"

namespace covary {
namespace {

// Gives a value back what it was.
template <class T>
struct Restored {
  explicit Restored(T& v) : value(v), before(v) {}
  ~Restored() { value = before; }
  Restored(const Restored&) = delete;
  Restored& operator=(const Restored&) = delete;
  T& value;
  T before;
};

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
  if (subset < 0 || starts < 1 || groups < 0 || most_inducing < 1)
    throw InputError("subset and groups must not be negative; starts and most_inducing at least 1");
  if (!(bracket > 0.0)) throw InputError(fmt::format("bracket must be positive, got {}", bracket));
  training.check();
}

SparseRegression::SparseRegression(ConstRows X, ConstRows Y, SparseRegressionOptions options,
                                   ConstVector point_noise)
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
  if (options_.Z.size() && options_.Z.cols() != X.cols())
    throw InputError(
        fmt::format("the inducing inputs have {} columns, X has {}", options_.Z.cols(), X.cols()));

  if (options_.approximation.kind == Approximation::Kind::pitc) {
    // Rows in the order of their groups.
    const Index M = options_.inducing ? options_.inducing : 100;
    const Index groups = options_.groups ? options_.groups : std::max<Index>(1, X.rows() / M);
    const auto order = order_by_cluster(X_, groups, options_.seed, group_starts_);
    X_ = RowMatrix(X_(order, Eigen::all));
    Y_ = RowMatrix(Y_(order, Eigen::all));
    if (point_noise_.size()) point_noise_ = Vector(point_noise_(order));
  }
  rows_ = std::make_shared<MemoryRows>(X_, Y_, point_noise_);
  columns_ = columns_by_pattern(*rows_);

  const DataScale scale = data_scale(X_, Y_);
  parameters_ = options_.kernel.parameters(scale);
  const double noise = 0.1 * scale.y_variance;
  parameters_.add({"likelihood.variance", Vector::Constant(1, noise),
                   Transform::positive(noise, 1e-7 * noise)});
  options_.mean.declare(parameters_, X_.cols(), column_means(Y_));
  if (options_.Z.size())
    set_features(input_scaling_.apply(options_.Z));
  else
    choose_Z(options_.inducing ? options_.inducing : first_inducing);
}

void SparseRegression::say(const std::string& text) const {
  if (options_.tell) options_.tell(text);
}

// New inducing inputs take the place of the old; the parameter keeps its flags.
void SparseRegression::set_features(ConstRows Z) {
  features_ = inducing_points(options_.kernel, Z);
  const bool fixed = parameters_.contains("features.Z") && !parameters_.at("features.Z").trainable;
  Parameters all;
  for (const Parameter& p : parameters_.all())
    if (p.path != "features.Z") {
      Parameter copy = p;
      copy.tied_to.clear();
      all.add(std::move(copy));
    }
  features_->declare(all);
  for (const Parameter& p : parameters_.all())
    if (!p.tied_to.empty()) all.tie(p.path, p.tied_to, p.ratio);
  if (fixed) all.fix("features.Z");
  parameters_ = std::move(all);
}

void SparseRegression::set_parameters(Parameters parameters) {
  const Parameter& Z = parameters.at("features.Z");
  features_ =
      inducing_points(options_.kernel, Eigen::Map<const RowMatrix>(Z.value.data(), Z.rows, Z.cols));
  parameters_ = std::move(parameters);
}

void SparseRegression::choose_Z(Index M) {
  const Vector theta = parameters_.values().head(options_.kernel.parameter_count(X_.cols()));
  SelectionResult chosen = select_inducing(options_.selection, std::min(M, X_.rows()), X_,
                                           options_.kernel, theta, options_.seed);
  if (!chosen.note.empty()) say(chosen.note);
  set_features(chosen.Z);
}

SparseValues SparseRegression::unpack(ConstVector values) const {
  const Index K = options_.kernel.parameter_count(X_.cols()),
              B = options_.mean.basis_count(X_.cols()), P = Y_.cols();
  SparseValues v{values.head(K), values.tail(features_->parameter_count()), values(K), {}};
  if (B > 0) v.mean_weights = Eigen::Map<const RowMatrix>(values.data() + K + 1, B, P);
  return v;
}

SparseEvaluation SparseRegression::evaluate(ConstVector values, Jitter& jitter, Vector* values_bar,
                                            Matrix* cglb_v) const {
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
                              parameters_.at("features.Z").trainable && values_bar};
  SweepGradient g;
  SweepGradient* out = values_bar ? &g : nullptr;
  const bool cglb = options_.approximation.kind == Approximation::Kind::cglb;
  SparseEvaluation e = pitc   ? evaluate_pitc(problem, group_starts_, v, jitter, out)
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

SparseEvaluation SparseRegression::evaluate() const {
  Jitter jitter{options_.jitter};
  SparseEvaluation e = evaluate(parameters_.values(), jitter, nullptr);
  e.value -= log_jacobian_;
  return e;
}

Certificate SparseRegression::certificate() const {
  Certificate c = bracket();
  for (double* value : {&c.lower, &c.upper, &c.elbo}) *value -= log_jacobian_;
  return c;
}

double SparseRegression::bound() const {
  Jitter jitter{options_.jitter};
  return evaluate(parameters_.values(), jitter, nullptr).value;
}

std::optional<double> SparseRegression::objective(const Vector& u, Vector* gradient,
                                                  Jitter& jitter) const {
  const Vector values = parameters_.constrain(u);
  if (!values.allFinite()) return std::nullopt;
  Vector bar;
  double value = evaluate(values, jitter, gradient ? &bar : nullptr).value;
  value += parameters_.log_prior(values, gradient ? &bar : nullptr);
  if (gradient) *gradient = -parameters_.pullback(u, bar);
  return -value;
}

// The log evidence of y ~ N(0, s²) with the best s for each output: what a model has to beat.
double SparseRegression::noise_only() const {
  double sum = 0.0;
  for (Index p = 0; p < Y_.cols(); ++p) {
    double square = 0.0, n = 0.0;
    for (Index i = 0; i < Y_.rows(); ++i)
      if (!std::isnan(Y_(i, p))) square += Y_(i, p) * Y_(i, p), n += 1.0;
    if (square > 0.0) sum -= 0.5 * n * (std::log(2.0 * std::numbers::pi * square / n) + 1.0);
  }
  return sum;
}

RegressionFit SparseRegression::fit() {
  const auto began = std::chrono::steady_clock::now();
  Jitter jitter{options_.jitter};
  const bool resumed = resume_.has_value();
  // The limit of time is that of the whole fit, of which each part would otherwise take it.
  const auto late = [&began, limit = options_.training.max_seconds] {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count() >= limit;
  };
  const Restored<std::function<bool()>> stop(options_.training.stop);
  options_.training.stop = [&] { return late() || (stop.before && stop.before()); };
  Minimum best;
  if (options_.training.max_iterations == 0) {
    best.summary.reason = "evaluated at the given parameters";
    best.summary.evaluations = 1;
  } else {
    const bool automatic = options_.inducing == 0 && options_.Z.size() == 0;
    const Parameters given = parameters_;
    if (resumed)
      restore_features();
    else if (options_.subset > 0 && !automatic)
      start_from_subset();
    if (automatic)
      best = resumed ? finish_growing(given, "resumed", jitter) : grow(jitter);
    else
      best = train_once(jitter);
  }

  if (options_.training.max_iterations > 0 && late()) {
    best.summary.converged = false;
    best.summary.reason =
        fmt::format("the limit of {} seconds was reached", options_.training.max_seconds);
  }

  Jitter final_jitter = jitter;
  const Vector values = parameters_.values();
  Matrix v;  // of CGLB
  SparseEvaluation e = evaluate(values, final_jitter, nullptr, &v);
  Summary& summary = best.summary;
  for (auto& p : summary.trace) p.value += log_jacobian_;
  for (auto& s : summary.starts)
    if (s.value) *s.value += log_jacobian_;
  summary.initial_value += log_jacobian_;
  summary.negate_values();
  summary.objective = options_.approximation.is_bound() ? "elbo" : "log_marginal_likelihood";
  summary.value = e.value - log_jacobian_;
  summary.jitter = e.jitter;
  static const char* const routes[] = {"automatic", "fast", "safe", "stable"};
  summary.route = fmt::format(
      "{}: {} route, ρ = {:.1e}, smallest eigenvalue of Kuu {:.1e}", options_.approximation.print(),
      routes[static_cast<int>(e.terms.route)], e.terms.rho, e.terms.smallest_eigenvalue);
  summary.warnings.insert(summary.warnings.begin(), warnings_.begin(), warnings_.end());
  const double floor = noise_only();
  if (e.value <= floor && options_.training.max_iterations > 0) {
    summary.converged = false;
    summary.warnings.push_back(
        "no signal found: the model explains the outputs no better than "
        "noise alone");
  }
  SparsePosterior posterior({options_.approximation, options_.kernel, options_.mean, features_,
                             unpack(values), std::move(e.Luu), e.jitter, std::move(e.factors),
                             v.rows() ? X_ : RowMatrix(), std::move(v)});
  RegressionFit out{
      std::move(posterior), input_scaling_, output_scaling_, parameters_, {}, 0.0, 0.0, {}, {}, {}};
  out.diagnostics = {{"inducing", static_cast<double>(features_->size())},
                     {"complexity", e.terms.complexity + log_jacobian_},
                     {"fit", e.terms.fit},
                     {"trace", e.terms.trace},
                     {"residual_variance", e.terms.residual},
                     {"mean_residual_ratio", e.terms.mean_ratio},
                     {"rho", e.terms.rho},
                     {"noise_only", floor - log_jacobian_}};
  if (options_.approximation.is_bound()) {
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
  out.log_marginal_likelihood = summary.value;
  out.log_prior = parameters_.log_prior(values);
  summary.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
  out.summary = std::move(summary);
  return out;
}

}  // namespace covary
