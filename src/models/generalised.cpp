#include "covary/models/generalised.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>

#include "covary/error.hpp"
#include "covary/inference/ep.hpp"
#include "covary/inference/laplace.hpp"
#include "covary/inference/softmax_laplace.hpp"
#include "covary/inference/variational.hpp"
#include "covary/likelihoods/likelihoods.hpp"
#include "models/generalised_data.hpp"
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

// EP has no place for a weight but as a number of rows.
void repeat_by_weight(GeneralisedData& data) {
  std::vector<Index> rows;
  for (Index n = 0; n < data.weights.size(); ++n) {
    if (data.weights(n) != std::floor(data.weights(n)))
      throw Unsupported(fmt::format(
          "EP repeats the rows by their weights, and {} is no whole number; use laplace, vgp or "
          "svgp",
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
  if (method != Inference::laplace && method != Inference::ep && method != Inference::vi)
    throw InputError(
        fmt::format("a model without inducing inputs is fitted by laplace, ep or vgp, not by {}",
                    name_of(method)));
  LatentOptions::check(method);
  if (!(power > 0.0 && power <= 1.0))
    throw InputError(fmt::format("the power of EP must lie in (0, 1], got {}", power));
  if (starts < 0) throw InputError(fmt::format("starts must not be negative, got {}", starts));
}

Generalised::Generalised(ConstRows X, ConstVector y, GeneralisedOptions options)
    : options_(std::move(options)) {
  options_.check();
  GeneralisedData data = generalised_data(X, y, options_);
  parameters_ =
      latent_parameters(options_, MemoryRows(data.scaled.X, data.scaled.Y, Vector(), data.weights),
                        data.scaled.Y.col(0), data.aux, data.weights);
  if (options_.method == Inference::ep) repeat_by_weight(data);
  const Index parts = options_.separate_kernels ? options_.likelihood.latents() : 1;
  model_ = {std::vector<Kernel>(static_cast<std::size_t>(parts), options_.kernel),
            options_.likelihood,
            options_.mean,
            std::move(data.scaled.X),
            data.scaled.Y.col(0),
            std::move(data.aux),
            std::move(data.weights)};
  input_scaling_ = std::move(data.scaled.inputs);
  pca_ = std::move(data.pca);
  output_scaling_ = std::move(data.scaled.outputs);
  log_jacobian_ = data.scaled.log_jacobian;
  warnings_ = std::move(data.scaled.warnings);
}

std::string Generalised::name() const {
  if (options_.method == Inference::vi) return "vgp";
  if (options_.method == Inference::ep && options_.power != 1.0)
    return fmt::format("ep({})", options_.power);
  return name_of(options_.method);
}

MultiLatentParameters Generalised::unpack(ConstVector values) const {
  MultiLatentParameters out;
  const Index D = model_.X.cols(), K = options_.kernel.parameter_count(D);
  Index at = 0;
  for (std::size_t l = 0; l < model_.kernels.size(); ++l, at += K)
    out.kernels.emplace_back(values.segment(at, K));
  out.likelihood = values.segment(at, options_.likelihood.parameter_count());
  at += out.likelihood.size();
  out.mean_weights = Eigen::Map<const RowMatrix>(values.data() + at, options_.mean.basis_count(D),
                                                 options_.likelihood.latents());
  return out;
}

LatentApproximation Generalised::approximate_one(const LatentModel& model,
                                                 const LatentParameters& at,
                                                 LatentParameters* bar) const {
  EpOptions ep;
  ep.power = options_.power;
  return options_.method == Inference::ep   ? expectation_propagation(model, at, bar, ep)
         : options_.method == Inference::vi ? variational_approximation(model, at, bar)
                                            : laplace_approximation(model, at, bar);
}

// One model of one latent function for each class against the rest.
Generalised::Approximation Generalised::approximate_each(const Likelihood& each,
                                                         const MultiLatentParameters& at,
                                                         MultiLatentParameters* bar) const {
  const Index L = options_.likelihood.latents();
  if (bar) {
    for (const Vector& kernel : at.kernels) bar->kernels.emplace_back(Vector::Zero(kernel.size()));
    bar->mean_weights = Matrix::Zero(at.mean_weights.rows(), L);
  }
  double value = 0.0;
  int iterations = 0;
  std::vector<LatentPosterior> posterior;
  for (Index l = 0; l < L; ++l) {
    const std::size_t k = at.kernels.size() == 1 ? 0 : static_cast<std::size_t>(l);
    const Vector labels = (model_.y.array() == static_cast<double>(l)).cast<double>();
    LatentParameters own;
    LatentApproximation q = approximate_one(
        {model_.kernels[k], each, model_.mean, model_.X, labels, {}, model_.weights},
        {at.kernels[k], {}, at.mean_weights.col(l)}, bar ? &own : nullptr);
    value += q.value;
    iterations = std::max(iterations, q.iterations);
    posterior.push_back(std::move(q.posterior));
    if (!bar) continue;
    bar->kernels[k] += own.kernel;
    bar->mean_weights.col(l) = own.mean_weights;
  }
  return {value, std::move(posterior), iterations};
}

Generalised::Approximation Generalised::approximate(ConstVector values, Vector* values_bar) const {
  const MultiLatentParameters at = unpack(values);
  MultiLatentParameters bar;
  MultiLatentParameters* const wanted = values_bar ? &bar : nullptr;
  Approximation out = [&]() -> Approximation {
    if (options_.likelihood.latents() == 1) {
      LatentParameters own;
      LatentApproximation q = approximate_one(
          {model_.kernels.front(), model_.likelihood, model_.mean, model_.X, model_.y, model_.aux,
           model_.weights},
          {at.kernels.front(), at.likelihood, at.mean_weights}, wanted ? &own : nullptr);
      if (wanted) bar = {{own.kernel}, own.likelihood, own.mean_weights};
      return {q.value, std::vector<LatentPosterior>{std::move(q.posterior)}, q.iterations};
    }
    if (const auto each = each_vs_rest(options_.likelihood))
      return approximate_each(*each, at, wanted);
    if (options_.method == Inference::laplace) {
      JointApproximation q = laplace_approximation(model_, at, wanted);
      return {q.value, std::move(q.posterior), q.iterations};
    }
    MultiLatentApproximation q = variational_approximation(model_, at, wanted);
    return {q.value, std::move(q.posterior), q.iterations};
  }();
  if (values_bar) {
    values_bar->resize(values.size());
    Index end = 0;
    for (const Vector& kernel : bar.kernels) {
      values_bar->segment(end, kernel.size()) = kernel;
      end += kernel.size();
    }
    values_bar->segment(end, bar.likelihood.size()) = bar.likelihood;
    const RowMatrix weights = bar.mean_weights;
    values_bar->tail(weights.size()) = Eigen::Map<const Vector>(weights.data(), weights.size());
  }
  return out;
}

double Generalised::value() const {
  return approximate(parameters_.values(), nullptr).value - log_jacobian_;
}

std::optional<double> Generalised::objective(const Vector& u, Vector* gradient) const {
  const Vector values = parameters_.constrain(u);
  if (!values.allFinite()) return std::nullopt;
  Vector bar;
  double value = approximate(values, gradient ? &bar : nullptr).value;
  value += parameters_.log_prior(values, gradient ? &bar : nullptr);
  if (gradient) *gradient = -parameters_.pullback(u, bar);
  return -value;
}

GeneralisedFit Generalised::fit() {
  const auto began = std::chrono::steady_clock::now();
  const Index starts = options_.starts ? options_.starts : (rows() <= 300 ? 3 : 1);
  Summary summary;
  const Vector u = parameters_.flatten();
  const bool trains = options_.training.max_iterations > 0 && u.size() > 0;
  if (trains) {
    RestartsState state;
    if (resume_) state = std::move(resume_->restarts);
    resume_.reset();
    std::function<void(const RestartsState&)> after;
    if (options_.after_iteration)
      after = [&](const RestartsState& s) { options_.after_iteration({s, {}}); };
    Minimum best = minimise_with_restarts(
        [&](const Vector& at, Vector* g) { return objective(at, g); }, u, starts,
        [&](Index r) { return perturbed_start(parameters_, r, options_.seed); }, options_.training,
        std::move(state), after);
    summary = std::move(best.summary);
    parameters_.set_values(parameters_.constrain(best.state.u));
    for (auto& p : summary.trace) p.value += log_jacobian_;
    for (auto& s : summary.starts)
      if (s.value) *s.value += log_jacobian_;
    summary.initial_value += log_jacobian_;
    summary.negate_values();
  } else {
    summary.evaluations = 1;
    summary.converged = u.size() == 0;
    summary.reason = u.size() == 0 ? "nothing to train" : "evaluated at the given parameters";
  }
  const Vector values = parameters_.values();
  Approximation q = approximate(values, nullptr);
  summary.value = q.value - log_jacobian_;
  if (!trains) summary.initial_value = summary.value;
  summary.objective =
      options_.method == Inference::vi ? "elbo" : fmt::format("log_evidence({})", name());
  summary.route =
      fmt::format("{}: {} iterations at the end, N×N factorisations", name(), q.iterations);
  summary.warnings.insert(summary.warnings.begin(), warnings_.begin(), warnings_.end());
  if (options_.method == Inference::laplace && options_.likelihood.classes() > 0)
    if (std::string warning = runaway_variance(parameters_); !warning.empty())
      summary.warnings.push_back(std::move(warning));
  GeneralisedFit out{name(),
                     std::move(q.posterior),
                     options_.likelihood,
                     unpack(values).likelihood,
                     input_scaling_,
                     output_scaling_,
                     parameters_,
                     {},
                     summary.value,
                     parameters_.log_prior(values)};
  out.classes = options_.classes;
  out.pca = pca_;
  out.rows = rows();
  summary.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
  out.summary = std::move(summary);
  return out;
}

}  // namespace covary
