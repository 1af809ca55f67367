#include "covary/models/svgp.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "covary/error.hpp"
#include "models/generalised_data.hpp"
#include "models/row_summaries.hpp"

namespace covary {
namespace {

constexpr Index usual_inducing = 100, most_full_rows = 20000, usual_batch = 1024;

void require(bool holds, const char* option, double value, const char* rule) {
  if (!holds) throw InputError(fmt::format("{} is {}; it must be {}", option, value, rule));
}

void check_column(const Vector& column, Index rows, const char* name) {
  if (column.size() && column.size() != rows)
    throw InputError(fmt::format("{} has {} entries for {} rows", name, column.size(), rows));
}

// Starts of a likelihood that was given none, for targets of unit variance: most of it is signal.
void suit_scaled_targets(const Likelihood& l, Parameters& parameters) {
  if (!l.node().real_targets() || l.print().find('(') != std::string::npos) return;
  for (const auto& [path, start] :
       {std::pair{"likelihood.variance", 0.1}, {"likelihood.scale", 0.3}})
    if (parameters.contains(path)) parameters.set(path, start);
}

}  // namespace

void SvgpOptions::check() const {
  likelihood.require(Inference::svgp);
  if (inducing) require(*inducing >= 1, "inducing", static_cast<double>(*inducing), "at least 1");
  require(jitter >= 0.0 && std::isfinite(jitter), "jitter", jitter, "finite and not negative");
  require(batch >= 0, "batch", static_cast<double>(batch), "0 (automatic) or positive");
  require(steps >= 0, "steps", static_cast<double>(steps), "0 (automatic) or positive");
  require(epochs >= 0, "epochs", static_cast<double>(epochs), "0 (automatic) or positive");
  require(natural_step > 0.0 && natural_step <= 1.0, "natural_step", natural_step,
          "above 0 and at most 1");
  require(natural_ramp >= 0, "natural_ramp", static_cast<double>(natural_ramp), "at least 0");
  require(adam_every >= 1, "adam_every", static_cast<double>(adam_every), "at least 1");
  require(final_sweeps >= 0, "final_sweeps", static_cast<double>(final_sweeps), "at least 0");
  require(sample >= 1, "sample", static_cast<double>(sample), "at least 1");
  require(q.tolerance > 0.0, "q.tolerance", q.tolerance, "positive");
  require(q.max_iterations >= 1, "q.max_iterations", static_cast<double>(q.max_iterations),
          "at least 1");
  LearningRate rate = learning_rate;
  if (rate.every == 0) rate.every = 1;
  rate.check();
  if (!classes.empty() && static_cast<Index>(classes.size()) != likelihood.classes())
    throw InputError(fmt::format("{} names of classes for {}, which has {}", classes.size(),
                                 likelihood.print(), likelihood.classes()));
  training.check();
}

Svgp::Svgp(ConstRows X, ConstVector y, SvgpOptions options) : options_(std::move(options)) {
  options_.check();
  check_regression_data(X, RowMatrix(y), Vector());
  const Likelihood& l = options_.likelihood;
  check_column(options_.aux, X.rows(), "the column beside y");
  check_column(options_.weights, X.rows(), "the column of weights");
  for (Index i = 0; i < options_.weights.size(); ++i)
    if (!(options_.weights(i) >= 0.0) || !std::isfinite(options_.weights(i)))
      throw InputError(
          fmt::format("the weight of row {} is {}; weights are finite and not negative", i,
                      options_.weights(i)));
  if (options_.weights.size() && !(options_.weights.maxCoeff() > 0.0))
    throw InputError("all weights are zero; a fit needs a row with a positive one");
  l.check(y, options_.aux);
  check_classes(l, y);

  std::vector<Index> observed;
  for (Index i = 0; i < y.size(); ++i)
    if (!std::isnan(y(i))) observed.push_back(i);
  const bool real = l.node().real_targets();
  ScaledData data =
      scaled_data(X(observed, Eigen::all), RowMatrix(y(observed)), Vector(), options_.scale_inputs,
                  real ? options_.scale_outputs : ScaleMode::none);
  if (!real) std::erase_if(data.warnings, [](const auto& w) { return w.starts_with("outputs"); });
  X_ = std::move(data.X);
  Y_ = std::move(data.Y);
  input_scaling_ = std::move(data.inputs);
  output_scaling_ = std::move(data.outputs);
  warnings_ = std::move(data.warnings);
  if (options_.aux.size()) aux_ = options_.aux(observed);
  if (l.aux() == Aux::noise) aux_ /= std::pow(output_scaling_.scale(0), 2);
  if (options_.weights.size()) weights_ = options_.weights(observed);
  const double count = weights_.size() ? weights_.sum() : static_cast<double>(Y_.rows());
  log_jacobian_ = count * std::log(output_scaling_.scale(0));
  rows_ = std::make_shared<MemoryRows>(X_, Y_, aux_, weights_);
  begin();
}

Svgp::Svgp(std::shared_ptr<FileRows> rows, SvgpOptions options) : options_(std::move(options)) {
  options_.check();
  if (!rows || rows->dims() == 0 || rows->outputs() != 1)
    throw InputError(
        "a fit of rows in a file needs one output column and an input column at least");
  if (options_.aux.size() || options_.weights.size())
    throw Unsupported("rows in a file have neither weights nor a column beside y yet");
  const Likelihood& l = options_.likelihood;
  const bool real = l.node().real_targets();
  ScaledData data =
      scaled_data(*rows, options_.scale_inputs, real ? options_.scale_outputs : ScaleMode::none,
                  options_.sample, options_.seed);
  Vector sample = data.Y.col(0);
  check_classes(l, sample);
  if (!real)
    Sweep(*rows, 4096).for_each_block([&](const DataBlock& block) {
      l.check(Eigen::Map<const Vector>(block.y, block.x.n));
    });
  X_ = std::move(data.X);
  Y_ = std::move(data.Y);
  input_scaling_ = std::move(data.inputs);
  output_scaling_ = std::move(data.outputs);
  log_jacobian_ = data.log_jacobian;
  warnings_ = std::move(data.warnings);
  rows_ = std::move(rows);
  in_memory_ = false;
  begin();
}

// The size of batches, parameters scaled to the data, and the first inducing inputs.
void Svgp::begin() {
  const Index N = rows_->rows();
  if (options_.batch > N)
    throw InputError(fmt::format(
        "a minibatch of {} rows is larger than the data, which have {}; leave batch at 0 to use "
        "all of them",
        options_.batch, N));
  batch_ = options_.batch ? options_.batch : N <= most_full_rows ? N : usual_batch;
  const Index M = options_.inducing.value_or(std::min(usual_inducing, X_.rows()));
  if (options_.Z.size() == 0 && M > X_.rows())
    throw InputError(fmt::format(
        "{} inducing inputs are more than the {} observed rows; ask for no more than those", M,
        X_.rows()));
  if (options_.Z.size() && options_.Z.cols() != X_.cols())
    throw InputError(
        fmt::format("the inducing inputs have {} columns, X has {}", options_.Z.cols(), X_.cols()));
  if (options_.covariance.block > (options_.Z.size() ? options_.Z.rows() : M))
    throw InputError(
        fmt::format("{} of the covariance for {} inducing inputs", options_.covariance.print(), M));
  declare_parameters();
  if (options_.Z.size())
    set_features(input_scaling_.apply(options_.Z));
  else
    choose_Z(M);
}

std::string Svgp::path_of(Index part, const std::string& rest) const {
  return options_.separate_kernels && latents() > 1 ? fmt::format("latent.{}.{}", part, rest)
                                                    : rest;
}

void Svgp::declare_parameters() {
  const Index parts = options_.separate_kernels ? latents() : 1;
  DataScale scale = data_scale(*rows_);
  const bool real = options_.likelihood.node().real_targets();
  if (!real) scale.y_variance = 1.0;
  for (Index i = 0; i < parts; ++i) {
    const Parameters kernel = options_.kernel.parameters(scale, path_of(i, "kernel"));
    for (const Parameter& p : kernel.all()) parameters_.add(p);
  }
  const Parameters likelihood = options_.likelihood.parameters();
  for (const Parameter& p : likelihood.all()) parameters_.add(p);
  suit_scaled_targets(options_.likelihood, parameters_);
  // The first latent function is the one in the units of y.
  Vector intercepts = Vector::Zero(latents());
  if (real) intercepts(0) = column_means(*rows_)(0);
  options_.mean.declare(parameters_, X_.cols(), intercepts);
}

void Svgp::say(const std::string& text) const {
  if (options_.tell) options_.tell(text);
}

void Svgp::choose_Z(Index M) {
  const Vector theta = parameters_.values().head(options_.kernel.parameter_count(X_.cols()));
  SelectionResult chosen =
      select_inducing(options_.selection, M, X_, options_.kernel, theta, options_.seed);
  if (!chosen.note.empty()) say(chosen.note);
  set_features(chosen.Z);
}

// New inducing inputs take the place of the old; parameters keep their flags.
void Svgp::set_features(ConstRows Z) {
  const auto is_Z = [](const std::string& path) { return path.ends_with("features.Z"); };
  const Parameters before = std::move(parameters_);
  parameters_ = {};
  for (Parameter p : before.all())
    if (!is_Z(p.path)) {
      p.tied_to.clear();
      parameters_.add(std::move(p));
    }
  features_.clear();
  const Index parts = options_.separate_kernels ? latents() : 1;
  for (Index i = 0; i < parts; ++i) {
    features_.push_back(inducing_points(options_.kernel, Z));
    Parameters own;
    features_.back()->declare(own);
    for (Parameter p : own.all()) {
      p.path = path_of(i, p.path);
      p.trainable = !before.contains(p.path) || before.at(p.path).trainable;
      parameters_.add(std::move(p));
    }
  }
  for (const Parameter& p : before.all())
    if (!p.tied_to.empty() && !is_Z(p.path)) parameters_.tie(p.path, p.tied_to, p.ratio);
}

// The order of the parameters: kernels, likelihood, mean, inducing inputs.
Svgp::Unpacked Svgp::unpack(ConstVector values) const {
  const Index K = options_.kernel.parameter_count(X_.cols()), L = latents();
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
  for (const auto& f : features_) out.values.z.push_back(take(f->parameter_count()));
  return out;
}

Vector Svgp::pack(const UncollapsedGradient& g) const {
  const RowMatrix W = g.mean_bar;
  Vector out(parameters_.size());
  Index at = 0;
  const auto put = [&](const auto& v) {
    out.segment(at, v.size()) = v;
    at += v.size();
  };
  for (const Vector& t : g.theta_bar) put(t);
  put(g.likelihood_bar);
  put(Eigen::Map<const Vector>(W.data(), W.size()));
  for (const Vector& z : g.z_bar) put(z);
  return out;
}

UncollapsedProblem Svgp::problem(const Sweep& sweep, const Vector& likelihood, bool guard) const {
  UncollapsedProblem p;
  for (const auto& f : features_) p.parts.push_back({f.get(), &options_.kernel});
  p.mean = &options_.mean;
  p.sweep = &sweep;
  p.scale = static_cast<double>(rows_->rows()) / static_cast<double>(sweep.rows().rows());
  p.likelihood = row_likelihood(options_.likelihood, likelihood);
  p.guard_eigenvalue = guard && parameters_.at(path_of(0, "features.Z")).trainable;
  return p;
}

NaturalGaussian Svgp::prior() const { return {inducing(), latents(), options_.covariance}; }

QOptions Svgp::q_options() const {
  QOptions out = options_.q;
  const std::string name = options_.likelihood.print();
  out.conjugate = name == "gaussian" || name.starts_with("gaussian(");
  return out;
}

QOptimum Svgp::maximise(ConstVector values, NaturalGaussian& q, Jitter& jitter, Vector* values_bar,
                        const QOptions& options) const {
  Unpacked at = unpack(values);
  const Sweep sweep = Sweep::for_features(*rows_, inducing());
  const UncollapsedProblem p = problem(sweep, at.likelihood, values_bar != nullptr);
  UncollapsedGradient g;
  g.of_factors = false;
  QOptimum out = maximise_q(p, at.values, q, jitter, values_bar ? &g : nullptr, options);
  if (values_bar) *values_bar = pack(g);
  return out;
}

double Svgp::elbo() const {
  NaturalGaussian q = prior();
  Jitter jitter{options_.jitter};
  return maximise(parameters_.values(), q, jitter, nullptr, q_options()).at.value - log_jacobian_;
}

std::optional<double> Svgp::objective(const Vector& u, Vector* gradient, Jitter& jitter,
                                      NaturalGaussian& q) const {
  constexpr double settled = 1e-2;  // beyond it the gradient would be wrong
  const Vector values = parameters_.constrain(u);
  if (!values.allFinite()) return std::nullopt;
  Vector bar;
  NaturalGaussian moved = q;
  const QOptimum best = maximise(values, moved, jitter, gradient ? &bar : nullptr, q_options());
  if (!best.converged && best.distance > settled) return std::nullopt;
  q = std::move(moved);
  const double value = best.at.value + parameters_.log_prior(values, gradient ? &bar : nullptr);
  if (gradient) *gradient = -parameters_.pullback(u, bar);
  return -value;
}

double Svgp::batch_objective(const Vector& u, const RowSource& rows, const NaturalGaussian& q,
                             Jitter& jitter, Vector* gradient, UncollapsedGradient& of_q) const {
  const Vector values = parameters_.constrain(u);
  Unpacked at = unpack(values);
  at.values.q = q.q();
  const Sweep sweep(rows, 128);  // wide enough for BLAS, and few M×M sums to add up
  of_q.of_factors = false;
  of_q.of_parameters = gradient != nullptr;
  const UncollapsedEvaluation e = evaluate_uncollapsed(
      problem(sweep, at.likelihood, gradient != nullptr), at.values, jitter, &of_q);
  if (!gradient) return -e.value - parameters_.log_prior(values);
  Vector bar = pack(of_q);
  const double value = e.value + parameters_.log_prior(values, &bar);
  *gradient = -parameters_.pullback(u, bar);
  return -value;
}

}  // namespace covary
