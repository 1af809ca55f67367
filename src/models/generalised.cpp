#include "covary/models/generalised.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "covary/error.hpp"
#include "covary/inference/ep.hpp"
#include "covary/inference/laplace.hpp"
#include "covary/inference/variational.hpp"
#include "covary/likelihoods/likelihoods.hpp"
#include "inference/site_posterior.hpp"
#include "inference/softmax_laplace.hpp"
#include "inference/sparse_ep.hpp"
#include "models/generalised_data.hpp"
#include "models/generalised_impl.hpp"
#include "models/inducing_choice.hpp"

namespace covary {
namespace {

// EP has no place for a weight but as a number of rows.
void repeat_by_weight(GeneralisedData& data) {
  std::vector<Index> rows;
  for (Index n = 0; n < data.weights.size(); ++n) {
    if (data.weights(n) != std::floor(data.weights(n)))
      throw Unsupported(fmt::format(
          "EP takes whole weights only, but weight {} is not whole; use laplace, vgp or svgp",
          data.weights(n)));
    rows.insert(rows.end(), static_cast<std::size_t>(data.weights(n)), n);
  }
  if (rows.empty()) return;
  data.scaled.X = RowMatrix(data.scaled.X(rows, Eigen::all));
  data.scaled.Y = RowMatrix(data.scaled.Y(rows, Eigen::all));
  if (data.aux.size()) data.aux = Vector(data.aux(rows));
  data.weights.resize(0);
}

}  // namespace

void GeneralisedOptions::check() const {
  if (method != Inference::laplace && method != Inference::ep && method != Inference::vi &&
      method != Inference::sparse_ep)
    throw InputError(fmt::format(
        "method must be laplace, ep, vgp, fitc or pep(α), got {}; for svgp use the model Svgp",
        name_of(method)));
  with_function_options<FunctionOptions>(*this).check(method);
  if (!(power > 0.0 && power <= 1.0))
    throw InputError(fmt::format("the power of EP must lie in (0, 1], got {}", power));
  if (!(jitter >= 0.0) || !std::isfinite(jitter))
    throw InputError(fmt::format("jitter is {}; it must be finite and not negative", jitter));
  if (method != Inference::sparse_ep && (inducing || Z.size() != 0))
    throw InputError(fmt::format(
        "{} has no inducing inputs; those that have: fitc, pep(α) and svgp", name_of(method)));
  if (method != Inference::sparse_ep && !features.is_points())
    throw InputError(
        fmt::format("{} has no features; those that have: fitc, pep(α) and svgp", name_of(method)));
  if (features.is_parametric())
    throw InputError(
        fmt::format("{} features define their own model; use --model sor", features.print()));
}

Generalised::Generalised(ConstRows X, ConstVector y, GeneralisedOptions options)
    : impl_(std::make_unique<Impl>(X, y, std::move(options))) {}
Generalised::Generalised(const Generalised& other) : impl_(std::make_unique<Impl>(*other.impl_)) {}
Generalised::Generalised(Generalised&&) noexcept = default;
Generalised& Generalised::operator=(Generalised&&) noexcept = default;
Generalised::~Generalised() = default;

Parameters& Generalised::parameters() { return impl_->parameters_; }
const Parameters& Generalised::parameters() const { return impl_->parameters_; }
const Scaling& Generalised::input_scaling() const { return impl_->input_scaling_; }
const InputMap& Generalised::input_map() const { return impl_->input_map_; }
const Scaling& Generalised::output_scaling() const { return impl_->output_scaling_; }
const GeneralisedOptions& Generalised::options() const { return impl_->options_; }
Index Generalised::rows() const { return impl_->rows(); }
double Generalised::log_jacobian() const { return impl_->log_jacobian_; }
Index Generalised::inducing() const { return impl_->inducing(); }
Index Generalised::starts() const { return impl_->starts(); }
const std::vector<std::string>& Generalised::warnings() const { return impl_->warnings_; }
std::string Generalised::name() const { return impl_->name(); }
double Generalised::value() const { return impl_->value(); }
std::optional<double> Generalised::objective(const Vector& u, Vector* gradient) const {
  Jitter jitter{impl_->options_.jitter};
  return impl_->objective(u, gradient, jitter);
}
void Generalised::start_from(const Generalised& other) {
  impl_->parameters_ = other.impl_->parameters_;
  impl_->chosen_ = other.impl_->chosen_;
  impl_->untrained_ = other.impl_->untrained_;
}
void Generalised::take_latent_space(const FitNode& from) { impl_->take_latent_space(from); }
void Generalised::resume(TrainingState state) { impl_->resume_ = std::move(state); }
GeneralisedFit Generalised::fit() { return impl_->fit(); }

Generalised::Impl::Impl(ConstRows X, ConstVector y, GeneralisedOptions options)
    : options_(std::move(options)) {
  options_.check();
  const auto shared = with_function_options<FunctionOptions>(options_);
  GeneralisedData data = generalised_data(X, y, shared);
  parameters_ =
      function_parameters(shared, MemoryRows(data.scaled.X, data.scaled.Y, Vector(), data.weights),
                          data.scaled.Y, data.aux, data.weights, options_.likelihood.functions());
  if (options_.method == Inference::ep || options_.method == Inference::sparse_ep)
    repeat_by_weight(data);
  const Index parts = options_.separate_kernels ? options_.likelihood.functions() : 1;
  model_ = {std::vector<Kernel>(static_cast<std::size_t>(parts), options_.kernel),
            options_.likelihood,
            options_.mean,
            std::move(data.scaled.X),
            data.scaled.Y.col(0),
            std::move(data.aux),
            std::move(data.weights)};
  input_scaling_ = std::move(data.scaled.inputs);
  input_map_ = std::move(data.input_map);
  output_scaling_ = std::move(data.scaled.outputs);
  log_jacobian_ = data.scaled.log_jacobian;
  warnings_ = std::move(data.scaled.warnings);
  if (options_.method == Inference::sparse_ep) begin_inducing();
  if (UntrainedMap::is_asked(shared))
    untrained_ = std::make_shared<UntrainedMap>(UntrainedMap{X, y, parameters_});
}

void Generalised::Impl::begin_inducing() {
  features_ =
      start_features(inducing_count(options_.inducing, options_.Z, rows(), input_scaling_.cols()));
  features_->declare(chosen_);
  for (const Parameter& p : chosen_.all()) parameters_.add(p);
}

std::string Generalised::Impl::name() const {
  if (options_.method == Inference::vi) return "vgp";
  if (options_.method == Inference::ep && options_.power != 1.0)
    return fmt::format("ep({})", options_.power);
  if (options_.method == Inference::sparse_ep)
    return options_.power == 1.0 ? "fitc" : fmt::format("pep({})", options_.power);
  return name_of(options_.method);
}

// The order of the parameters: kernels, likelihood, mean, inducing inputs.
Generalised::Impl::Values Generalised::Impl::unpack(ConstVector values) const {
  Values out;
  const Index D = model_.X.cols(), K = options_.kernel.parameter_count(D);
  Index at = 0;
  for (std::size_t l = 0; l < model_.kernels.size(); ++l, at += K)
    out.functions.kernels.emplace_back(values.segment(at, K));
  out.functions.likelihood = values.segment(at, options_.likelihood.parameter_count());
  at += out.functions.likelihood.size();
  out.functions.mean_weights = Eigen::Map<const RowMatrix>(
      values.data() + at, options_.mean.basis_count(D), options_.likelihood.functions());
  at += out.functions.mean_weights.size();
  out.z = values.tail(values.size() - at);
  return out;
}

Vector Generalised::Impl::pack(const Values& v) const {
  Vector out(parameters_.size());
  Index end = 0;
  const auto put = [&](const auto& part) {
    out.segment(end, part.size()) = part;
    end += part.size();
  };
  for (const Vector& kernel : v.functions.kernels) put(kernel);
  put(v.functions.likelihood);
  const RowMatrix weights = v.functions.mean_weights;
  put(Eigen::Map<const Vector>(weights.data(), weights.size()));
  put(v.z);
  return out;
}

FunctionModel Generalised::Impl::one_function() const {
  return {model_.kernels.front(), model_.likelihood, model_.mean, model_.X, model_.y, model_.aux,
          model_.weights};
}

FeaturesPtr Generalised::Impl::start_features(Index M) const {
  const MultiFunctionParameters at = unpack(parameters_.values()).functions;
  const auto choose = [&](Index n) {
    SelectionResult chosen =
        choose_inducing(options_.selection, n, one_function(),
                        {at.kernels.front(), at.likelihood, at.mean_weights}, options_.seed);
    if (!chosen.note.empty()) options_.training.say(chosen.note);
    return std::move(chosen.Z);
  };
  FeatureStart start{.kernel = options_.kernel,
                     .theta = at.kernels.front(),
                     .X = model_.X,
                     .M = M,
                     .seed = options_.seed,
                     .choose = choose};
  if (options_.Z.size()) start.Z = input_map_.transform(input_scaling_.apply(options_.Z));
  return covary::start_features(options_.features, start);
}

bool Generalised::Impl::trains_features() const {
  return std::any_of(chosen_.all().begin(), chosen_.all().end(),
                     [&](const Parameter& p) { return parameters_.at(p.path).trainable; });
}

FunctionApproximation Generalised::Impl::by_method(const FunctionModel& model,
                                                   const FunctionParameters& at,
                                                   FunctionParameters* bar) const {
  EpOptions ep;
  ep.power = options_.power;
  return options_.method == Inference::ep   ? expectation_propagation(model, at, bar, ep)
         : options_.method == Inference::vi ? variational_approximation(model, at, bar)
                                            : laplace_approximation(model, at, bar);
}

Generalised::Impl::Approximation Generalised::Impl::approximate_one(const Values& at, Values* bar,
                                                                    Jitter& jitter,
                                                                    bool guard) const {
  const FunctionModel model = one_function();
  const FunctionParameters values{at.functions.kernels.front(), at.functions.likelihood,
                                  at.functions.mean_weights};
  const auto give = [bar](const FunctionParameters& of_values, const Vector& of_z) {
    *bar = {{{of_values.kernel}, of_values.likelihood, of_values.mean_weights}, of_z};
  };
  if (options_.method == Inference::sparse_ep) {
    EpOptions ep;
    ep.power = options_.power;
    ep.guard_eigenvalue = guard;
    SparseEpGradient gradient;
    SparseEpApproximation q = sparse_expectation_propagation(model, features_, values, at.z, jitter,
                                                             bar ? &gradient : nullptr, ep);
    if (bar) give(gradient.parameters, gradient.z);
    return {q.value, std::move(q.posterior), q.iterations};
  }
  FunctionParameters gradient;
  FunctionApproximation q = by_method(model, values, bar ? &gradient : nullptr);
  if (bar) give(gradient, {});
  return {q.value, SitePosterior(std::move(q.posterior)), q.iterations};
}

// One model of one function for each class against the rest.
Generalised::Impl::Approximation Generalised::Impl::approximate_each(
    const Likelihood& each, const MultiFunctionParameters& at, MultiFunctionParameters* bar) const {
  const Index L = options_.likelihood.functions();
  if (bar) {
    for (const Vector& kernel : at.kernels) bar->kernels.emplace_back(Vector::Zero(kernel.size()));
    bar->mean_weights = Matrix::Zero(at.mean_weights.rows(), L);
  }
  double value = 0.0;
  int iterations = 0;
  std::vector<FunctionPosterior> posterior;
  for (Index l = 0; l < L; ++l) {
    const std::size_t k = at.kernels.size() == 1 ? 0 : static_cast<std::size_t>(l);
    const Vector labels = (model_.y.array() == static_cast<double>(l)).cast<double>();
    FunctionParameters own;
    FunctionApproximation q =
        by_method({model_.kernels[k], each, model_.mean, model_.X, labels, {}, model_.weights},
                  {at.kernels[k], {}, at.mean_weights.col(l)}, bar ? &own : nullptr);
    value += q.value;
    iterations = std::max(iterations, q.iterations);
    posterior.push_back(std::move(q.posterior));
    if (!bar) continue;
    bar->kernels[k] += own.kernel;
    bar->mean_weights.col(l) = own.mean_weights;
  }
  return {value, SitePosterior(std::move(posterior)), iterations};
}

Generalised::Impl::Approximation Generalised::Impl::approximate(ConstVector values,
                                                                Vector* values_bar, Jitter& jitter,
                                                                bool guard) const {
  const Values at = unpack(values);
  Values bar;
  Approximation out = [&]() -> Approximation {
    if (options_.likelihood.functions() == 1)
      return approximate_one(at, values_bar ? &bar : nullptr, jitter, guard);
    MultiFunctionParameters* const wanted = values_bar ? &bar.functions : nullptr;
    if (const auto each = each_vs_rest(options_.likelihood))
      return approximate_each(*each, at.functions, wanted);
    if (options_.method == Inference::laplace) {
      JointApproximation q = laplace_approximation(model_, at.functions, wanted);
      return {q.value, SoftmaxPosterior(std::move(q.posterior)), q.iterations};
    }
    MultiFunctionApproximation q = variational_approximation(model_, at.functions, wanted);
    return {q.value, SitePosterior(std::move(q.posterior)), q.iterations};
  }();
  if (values_bar) *values_bar = pack(bar);
  return out;
}

double Generalised::Impl::value() const {
  Jitter jitter{options_.jitter};
  return approximate(parameters_.values(), nullptr, jitter, false).value - log_jacobian_;
}

std::optional<double> Generalised::Impl::objective(const Vector& u, Vector* gradient,
                                                   Jitter& jitter) const {
  const bool guard = trains_features();
  return minus_log_posterior(parameters_, u, gradient, [&](ConstVector values, Vector* bar) {
    return std::optional(approximate(values, bar, jitter, guard).value);
  });
}

}  // namespace covary
