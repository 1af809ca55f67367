#include "covary/models/svgp.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "covary/data/pca.hpp"
#include "covary/error.hpp"
#include "covary/random/random.hpp"
#include "models/inducing_choice.hpp"
#include "models/svgp_impl.hpp"

namespace covary {
namespace {

constexpr Index most_full_rows = 20000, usual_batch = 1024;

void require(bool holds, const char* option, double value, const char* rule) {
  if (!holds) throw InputError(fmt::format("{} is {}; it must be {}", option, value, rule));
}

// Weights of so many functions along the principal axes of the outputs, each of which then has a
// variance of one at most. Functions beyond those start small, at random: with a weight of zero q
// would stay at its prior, and so would the weight.
RowMatrix principal_mixing(ConstRows Y, Index functions, std::uint64_t seed) {
  RowMatrix W = 0.1 * Random(seed, 0x313).normal_matrix(Y.cols(), functions);
  RowMatrix scaled = fit_scaling(Y, ScaleMode::columns).scaling.apply(Y);
  for (double& v : scaled.reshaped())
    if (std::isnan(v)) v = 0.0;
  if (scaled.cwiseAbs().maxCoeff() == 0.0) return W;  // no output varies
  const Pca axes = Pca::fit(scaled);
  for (Index l = 0; l < std::min(axes.size(), functions); ++l)
    W.col(l) =
        std::sqrt(std::max(axes.variances(l), 0.01 * axes.variances(0))) * axes.components.col(l);
  return W;
}

}  // namespace

void SvgpOptions::check() const {
  with_function_options<FunctionOptions>(*this).check(Inference::svgp);
  require(jitter >= 0.0 && std::isfinite(jitter), "jitter", jitter, "finite and not negative");
  require(sample >= 1, "sample", static_cast<double>(sample), "at least 1");
  require(functions >= 0, "functions", static_cast<double>(functions),
          "at least 1, or 0 for one of each output");
  if (functions > 0 && mixing.size() && mixing.cols() != functions)
    throw InputError(fmt::format("functions is {}, and the mixing that was given is {}×{}",
                                 functions, mixing.rows(), mixing.cols()));
  if ((functions > 0 || mixing.size()) && likelihood.functions() > 1)
    throw Unsupported(fmt::format(
        "mixtures of functions need a likelihood with one function per output; {} has {}",
        likelihood.print(), likelihood.functions()));
  require(q.tolerance > 0.0, "q.tolerance", q.tolerance, "positive");
  require(q.max_iterations >= 1, "q.max_iterations", static_cast<double>(q.max_iterations),
          "at least 1");
  if (features.is_parametric())
    throw InputError(
        fmt::format("{} features define their own model; use --model sor", features.print()));
}

Svgp::Svgp(ConstRows X, ConstRows Y, SvgpOptions options)
    : impl_(std::make_unique<Impl>(X, Y, std::move(options))) {}
Svgp::Svgp(std::shared_ptr<FileRows> rows, SvgpOptions options)
    : impl_(std::make_unique<Impl>(std::move(rows), std::move(options))) {}
Svgp::Svgp(Svgp&&) noexcept = default;
Svgp& Svgp::operator=(Svgp&&) noexcept = default;
Svgp::~Svgp() = default;

Parameters& Svgp::parameters() { return impl_->parameters_; }
const Parameters& Svgp::parameters() const { return impl_->parameters_; }
void Svgp::start_from(const Svgp& other) { impl_->start_from(*other.impl_); }
const SvgpOptions& Svgp::options() const { return impl_->options_; }
const Scaling& Svgp::input_scaling() const { return impl_->input_scaling_; }
const InputMap& Svgp::input_map() const { return impl_->input_map_; }
const Scaling& Svgp::output_scaling() const { return impl_->output_scaling_; }
const std::vector<std::string>& Svgp::warnings() const { return impl_->warnings_; }
Index Svgp::rows() const { return impl_->rows_->rows(); }
Index Svgp::batch() const { return impl_->batch_; }
Index Svgp::inducing() const { return impl_->inducing(); }
double Svgp::log_jacobian() const { return impl_->log_jacobian_; }
double Svgp::elbo() const { return impl_->elbo(); }
std::optional<double> Svgp::objective(const Vector& u, Vector* gradient, Jitter& jitter,
                                      NaturalGaussian& q) const {
  return impl_->objective(u, gradient, jitter, q);
}
double Svgp::batch_objective(const Vector& u, const RowSource& rows, const NaturalGaussian& q,
                             Jitter& jitter, Vector* gradient, UncollapsedGradient& of_q) const {
  return impl_->batch_objective(u, rows, q, jitter, gradient, of_q);
}
NaturalGaussian Svgp::prior() const { return impl_->prior(); }
void Svgp::take_latent_space(const FitNode& from) { impl_->take_latent_space(from); }
void Svgp::resume(TrainingState state) { impl_->resume_ = std::move(state); }
GeneralisedFit Svgp::fit() { return impl_->fit(); }
GeneralisedFit Svgp::at(const TrainingState& state) const { return impl_->at(state); }
NaturalGaussian Svgp::q_at(const TrainingState& state) const { return impl_->q_at(state); }

Svgp::Impl::Impl(ConstRows X, ConstRows Y, SvgpOptions options) : options_(std::move(options)) {
  options_.check();
  take(generalised_data(X, Y, with_function_options<FunctionOptions>(options_)));
  rows_ = std::make_shared<MemoryRows>(X_, Y_, aux_, weights_);
  begin();
  if (UntrainedMap::is_asked(with_function_options<FunctionOptions>(options_)))
    untrained_ = std::make_shared<UntrainedMap>(UntrainedMap{X, Y, parameters_});
}

Svgp::Impl::Impl(std::shared_ptr<FileRows> rows, SvgpOptions options)
    : options_(std::move(options)) {
  options_.check();
  if (!rows) throw InputError("training from a file needs FileRows, got a null pointer");
  take(generalised_data(*rows, with_function_options<FunctionOptions>(options_), options_.sample));
  rows_ = std::move(rows);
  in_memory_ = false;
  begin();
}

void Svgp::Impl::take(GeneralisedData data) {
  X_ = std::move(data.scaled.X);
  Y_ = std::move(data.scaled.Y);
  aux_ = std::move(data.aux);
  weights_ = std::move(data.weights);
  input_scaling_ = std::move(data.scaled.inputs);
  input_map_ = std::move(data.input_map);
  output_scaling_ = std::move(data.scaled.outputs);
  log_jacobian_ = data.scaled.log_jacobian;
  warnings_ = std::move(data.scaled.warnings);
}

// The size of batches, parameters scaled to the data, and the first inducing inputs.
void Svgp::Impl::begin() {
  const Index N = rows_->rows();
  if (options_.training.batch > N)
    throw InputError(fmt::format(
        "a minibatch of {} rows is larger than the data, which have {}; leave batch at 0 to use "
        "all of them",
        options_.training.batch, N));
  batch_ = options_.training.batch ? options_.training.batch
           : N <= most_full_rows   ? N
                                   : usual_batch;
  const Index M = inducing_count(options_.inducing, options_.Z, X_.rows(), input_scaling_.cols());
  if (options_.covariance.block > M)
    throw InputError(
        fmt::format("{} of the covariance for {} inducing inputs", options_.covariance.print(), M));
  settings_ = std::make_shared<FeatureSettings>();
  if (options_.selection == Selection::informative_vectors && rows_->outputs() > 1)
    throw Unsupported(
        fmt::format("informative vectors are chosen for one output, not for {}; choose them by "
                    "greedy_variance",
                    rows_->outputs()));
  if (options_.functions > 0 && options_.mixing.size() == 0)
    options_.mixing = principal_mixing(Y_, options_.functions, options_.seed);
  parameters_ = function_parameters(with_function_options<FunctionOptions>(options_), *rows_, Y_,
                                    aux_, weights_, functions());
  if (is_mixed()) {
    const RowMatrix& W = options_.mixing;
    if (W.rows() != arguments() || !W.allFinite())
      throw InputError(fmt::format(
          "the mixing is {}×{}; {} outputs of {} need finite weights in {} rows", W.rows(),
          W.cols(), rows_->outputs(), options_.likelihood.print(), arguments()));
    parameters_.add({"mixing.weights", Eigen::Map<const Vector>(W.data(), W.size()),
                     Transform::real(), W.rows(), W.cols()});
  }
  if (options_.Z.size())
    set_inputs(input_map_.transform(input_scaling_.apply(options_.Z)));
  else
    choose_features(M);
}

bool Svgp::Impl::is_feature(const std::string& path) {
  return path.find("features.") != std::string::npos;
}

bool Svgp::Impl::trains_features() const {
  for (const Parameter& p : parameters_.all())
    if (is_feature(p.path) && p.trainable) return true;
  return false;
}

std::string Svgp::Impl::path_of(Index part, const std::string& rest) const {
  return options_.separate_kernels && functions() > 1 ? fmt::format("function.{}.{}", part, rest)
                                                      : rest;
}

void Svgp::Impl::set_inputs(ConstRows Z) {
  const Vector theta = parameters_.values().head(options_.kernel.parameter_count(X_.cols()));
  set_features(start_features(options_.features, {.kernel = options_.kernel,
                                                  .theta = theta,
                                                  .X = X_,
                                                  .M = Z.rows(),
                                                  .seed = options_.seed,
                                                  .Z = Z}));
}

void Svgp::Impl::choose_features(Index M) {
  const Vector values = parameters_.values();
  const Index K = options_.kernel.parameter_count(X_.cols());
  const Index H = options_.likelihood.parameter_count();
  const Vector theta = values.head(K);
  const auto choose = [&](Index n) {
    SelectionResult chosen =
        options_.selection == Selection::informative_vectors
            ? choose_inducing(
                  options_.selection, n,
                  {options_.kernel, options_.likelihood, options_.mean, X_, Y_.col(0), aux_},
                  {theta, values.segment(K, H),
                   values.segment(K + H, options_.mean.basis_count(X_.cols()))},
                  options_.seed)
            : select_inducing(options_.selection, n, X_, options_.kernel, theta, options_.seed);
    if (!chosen.note.empty()) say(chosen.note);
    return chosen.Z;
  };
  set_features(start_features(options_.features, {.kernel = options_.kernel,
                                                  .theta = theta,
                                                  .X = X_,
                                                  .M = M,
                                                  .seed = options_.seed,
                                                  .choose = choose}));
}

// New features take the place of the old; of their parameters stays what the user has said.
void Svgp::Impl::set_features(const FeaturesPtr& features) {
  const Parameters before = std::move(parameters_);
  parameters_ = {};
  for (Parameter p : before.all())
    if (!is_feature(p.path)) {
      p.tied_to.clear();
      parameters_.add(std::move(p));
    }
  features_.clear();
  Parameters all;
  const Index parts = options_.separate_kernels ? functions() : 1;
  for (Index i = 0; i < parts; ++i) {
    features_.push_back(features);
    Parameters own;
    features_.back()->declare(own);
    for (Parameter p : own.all()) {
      p.path = path_of(i, p.path);
      all.add(std::move(p));
    }
  }
  settings_->chosen(all);
  for (Parameter p : all.all()) {
    if (before.contains(p.path)) settings_->carry(before.at(p.path), p);
    parameters_.add(std::move(p));
  }
  for (const Parameter& p : before.all())
    if (!p.tied_to.empty() && !is_feature(p.path)) parameters_.tie(p.path, p.tied_to, p.ratio);
}

void Svgp::Impl::start_from(const Impl& other) {
  parameters_ = other.parameters_;
  *settings_ = *other.settings_;
  untrained_ = other.untrained_;
}

// The order of the parameters: kernels, likelihood, mean, mixing, inducing inputs.
Svgp::Impl::Unpacked Svgp::Impl::unpack(ConstVector values) const {
  const Index K = options_.kernel.parameter_count(X_.cols()), L = arguments();
  const Index B = options_.mean.basis_count(X_.cols());
  const double* at = values.data();
  const auto take = [&at](Index n) {
    return Vector(Eigen::Map<const Vector>(std::exchange(at, at + n), n));
  };
  Unpacked out;
  for (std::size_t i = 0; i < features_.size(); ++i) out.values.theta.push_back(take(K));
  out.likelihood = take(options_.likelihood.parameter_count());
  if (B > 0)
    out.values.mean_weights = Eigen::Map<const RowMatrix>(std::exchange(at, at + B * L), B, L);
  if (is_mixed())
    out.mixing =
        Eigen::Map<const RowMatrix>(std::exchange(at, at + options_.mixing.size()), L, functions());
  for (const auto& f : features_) out.values.z.push_back(take(f->parameter_count()));
  return out;
}

Vector Svgp::Impl::pack(const UncollapsedGradient& g) const {
  const RowMatrix of_mean = g.mean_bar, of_mixing = g.mixing_bar;
  Vector out(parameters_.size());
  Index at = 0;
  const auto put = [&](const auto& v) {
    out.segment(at, v.size()) = v;
    at += v.size();
  };
  for (const Vector& t : g.theta_bar) put(t);
  put(g.likelihood_bar);
  put(Eigen::Map<const Vector>(of_mean.data(), of_mean.size()));
  put(Eigen::Map<const Vector>(of_mixing.data(), of_mixing.size()));
  for (const Vector& z : g.z_bar) put(z);
  return out;
}

UncollapsedProblem Svgp::Impl::problem(const Sweep& sweep, const Unpacked& at, bool guard) const {
  UncollapsedProblem p;
  for (const auto& f : features_) p.parts.push_back({f.get(), &options_.kernel});
  p.mean = &options_.mean;
  p.sweep = &sweep;
  p.scale = static_cast<double>(rows_->rows()) / static_cast<double>(sweep.rows().rows());
  p.likelihood = row_likelihood(options_.likelihood, at.likelihood);
  p.likelihood.mixing = at.mixing;
  p.guard_eigenvalue = guard && trains_features();
  return p;
}

QOptions Svgp::Impl::q_options() const {
  QOptions out = options_.q;
  out.conjugate = options_.likelihood.node().conjugate();
  return out;
}

QOptimum Svgp::Impl::maximise(ConstVector values, NaturalGaussian& q, Jitter& jitter,
                              Vector* values_bar, const QOptions& options) const {
  Unpacked at = unpack(values);
  const Sweep sweep = Sweep::for_features(*rows_, inducing());
  const UncollapsedProblem p = problem(sweep, at, values_bar != nullptr);
  UncollapsedGradient g;
  g.of_factors = false;
  QOptimum out = maximise_q(p, at.values, q, jitter, values_bar ? &g : nullptr, options);
  if (values_bar) *values_bar = pack(g);
  return out;
}

double Svgp::Impl::elbo() const {
  NaturalGaussian q = prior();
  Jitter jitter{options_.jitter};
  return maximise(parameters_.values(), q, jitter, nullptr, q_options()).at.value - log_jacobian_;
}

std::optional<double> Svgp::Impl::settled_bound(ConstVector values, Vector* values_bar,
                                                Jitter& jitter, NaturalGaussian& q) const {
  constexpr double settled = 1e-2;  // beyond it the gradient would be wrong
  NaturalGaussian moved = q;
  const QOptimum best = maximise(values, moved, jitter, values_bar, q_options());
  if (!best.converged && best.distance > settled) return std::nullopt;
  q = std::move(moved);
  return best.at.value;
}

std::optional<double> Svgp::Impl::objective(const Vector& u, Vector* gradient, Jitter& jitter,
                                            NaturalGaussian& q) const {
  return minus_log_posterior(parameters_, u, gradient, [&](ConstVector values, Vector* bar) {
    return settled_bound(values, bar, jitter, q);
  });
}

double Svgp::Impl::batch_objective(const Vector& u, const RowSource& rows, const NaturalGaussian& q,
                                   Jitter& jitter, Vector* gradient,
                                   UncollapsedGradient& of_q) const {
  const auto value =
      minus_log_posterior(parameters_, u, gradient, [&](ConstVector values, Vector* bar) {
        Unpacked at = unpack(values);
        at.values.q = q.q();
        const Sweep sweep(rows, 128);  // wide enough for BLAS, and few M×M sums to add up
        of_q.of_factors = false;
        of_q.of_parameters = bar != nullptr;
        const UncollapsedEvaluation e =
            evaluate_uncollapsed(problem(sweep, at, bar != nullptr), at.values, jitter, &of_q);
        if (bar) *bar = pack(of_q);
        return std::optional(e.value);
      });
  return value.value_or(std::nan(""));
}

}  // namespace covary
