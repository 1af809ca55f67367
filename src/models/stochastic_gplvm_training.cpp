// Training over minibatches of rows: Adam for q(x) of the rows of a batch, natural gradients for
// q(u), Adam for what all rows share.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "covary/error.hpp"
#include "covary/linalg/blas.hpp"
#include "inference/inducing_posterior.hpp"
#include "models/batches.hpp"
#include "models/q_blocks.hpp"
#include "models/row_adam.hpp"
#include "models/stochastic_gplvm_impl.hpp"
#include "training/best_start.hpp"

namespace covary {

// Where training stands.
struct StochasticGplvm::Impl::State {
  NaturalGaussian q;
  RowAdam latent;  // means and log variances
  Jitter jitter;
  double gamma = 0.0, local_rate = 0.0;  // of the step to make
  Index shortened = 0;
};

// The bound as a batch tells it and its gradient by the values that all rows share, unless that is
// null; moves q(x) and q(u).
std::optional<double> StochasticGplvm::Impl::step(State& s, std::span<const Index> rows,
                                                  ConstVector values, Vector* values_bar) const {
  const Index Q = options_.gplvm.latent;
  Gradient g;
  double value = 0.0;
  const Index moves = values_bar ? options_.local_steps : 1;
  Batch b;
  for (Index l = 0; l < moves; ++l) {
    const RowMatrix mean = s.latent.u.leftCols(Q), variance = s.latent.u.rightCols(Q).array().exp();
    b = batch_of(rows, mean, variance);
    value = evaluate(b, values, s.q.q(), s.jitter, &g);
    if (!values_bar) break;  // only q(u) moves
    RowMatrix down(b.mean.rows(), 2 * Q);
    down << -g.mean_bar, -(g.variance_bar.array() * b.variance.array()).matrix();
    if (!parameters_.at("latent.mean").trainable) down.leftCols(Q).setZero();
    if (!parameters_.at("latent.variance").trainable) down.rightCols(Q).setZero();
    s.latent.step(rows, down, s.local_rate);
  }
  if (!std::isfinite(value)) return std::nullopt;
  // A whole step of Gaussian noise never leaps; other links may, by exp of the error.
  s.shortened += halved_step(s.q, g.of_q.g, g.of_q.H, s.gamma, 20, [&] {
    return is_gaussian() || evaluate(b, values, s.q.q(), s.jitter, nullptr) >= value;
  });
  if (values_bar) *values_bar = g.values_bar;
  return value;
}

Minimum StochasticGplvm::Impl::train(NaturalGaussian& q, Jitter& jitter, Trainer& trainer) {
  const Index N = rows(), Q = options_.gplvm.latent;
  BatchOrder order(N, batch(), options_.gplvm.seed);
  Parameters shared = of_all();
  // Freed too early, the noise and the kernel's variance would explain the outputs as noise.
  std::vector<Index> variances;
  const std::vector<std::string> names = shared.free_names();
  for (std::size_t i = 0; i < names.size(); ++i)
    if (names[i].ends_with(".variance")) variances.push_back(static_cast<Index>(i));
  const Vector values = parameters_.values();
  RowMatrix start(N, 2 * Q);
  start << Eigen::Map<const RowMatrix>(values.data(), N, Q),
      Eigen::Map<const RowMatrix>(values.data() + N * Q, N, Q).array().log().matrix();
  State s{q, RowAdam(std::move(start)), jitter};
  State best = s;
  const auto blocks = [](const State& at) {
    Blocks out = blocks_of(at.q);
    out.insert(out.end(), {at.latent.u, at.latent.first, at.latent.second, at.latent.count});
    return out;
  };
  const auto set = [](State& at, Blocks b) {
    if (b.size() < 5) throw InputError("the state to resume belongs to another model");
    const auto rows = b.end() - 4;
    for (std::size_t i = 0; i < 3; ++i)
      if (rows[static_cast<std::ptrdiff_t>(i)].rows() != at.latent.u.rows() ||
          rows[static_cast<std::ptrdiff_t>(i)].cols() != at.latent.u.cols())
        throw InputError("the state to resume has other rows or dimensions");
    at.latent.u = rows[0];
    at.latent.first = rows[1];
    at.latent.second = rows[2];
    at.latent.count = rows[3].reshaped();
    b.erase(rows, b.end());
    at.q = q_of(b, at.q);
  };
  MinibatchProblem problem;
  problem.parameters = &shared;
  problem.jitter = &s.jitter;
  problem.batches_per_pass = order.per_pass();
  problem.usual_passes = 50;
  problem.usual_rate = 0.01;
  problem.evaluations_of_step = options_.local_steps;
  problem.step = [&](const Vector& u, const MinibatchStep& step,
                     Vector* gradient) -> std::optional<double> {
    if (step.number == 0)
      say(fmt::format("{} steps of minibatches of {} rows: {:.1f} passes over {} rows", step.of,
                      batch(), static_cast<double>(step.of) / static_cast<double>(order.per_pass()),
                      N));
    s.gamma = step.natural_step;
    s.local_rate = options_.local_rate * step.relative_rate;
    const auto value = minus_log_posterior(shared, u, gradient, [&](ConstVector at, Vector* bar) {
      return this->step(s, order.at(step.number), at, bar);
    });
    if (value && gradient && step.number < step.of / 5) (*gradient)(variances).setZero();
    return value;
  };
  problem.blocks = [&] { return blocks(s); };
  problem.set_blocks = [&](const Blocks& b) { set(s, b); };
  problem.keep_best = [&] {
    best.q = s.q;
    best.latent = s.latent;
  };
  problem.go_to_best = [&] {
    s.q = best.q;
    s.latent = best.latent;
  };
  problem.best_blocks = [&] { return blocks(best); };
  problem.set_best_blocks = [&](const Blocks& b) { set(best, b); };
  Minimum out = trainer.minimise(problem);
  if (s.shortened > 0) say(fmt::format("steps of q(u) were shortened {} times", s.shortened));
  Vector all(values.size());
  RowMatrix mean = s.latent.u.leftCols(Q), variance = s.latent.u.rightCols(Q).array().exp();
  all << Eigen::Map<const Vector>(mean.data(), N * Q),
      Eigen::Map<const Vector>(variance.data(), N * Q), shared.values();
  parameters_.set_values(all);
  q = s.q;
  jitter = s.jitter;
  return out;
}

// Other latent inputs and features, as a GP-LVM of all rows has them for that start; what was fixed
// or tied stays.
void StochasticGplvm::Impl::start_at(Index start) {
  GplvmOptions o = gplvm_.options();
  o.first_start = start;
  const Gplvm other(working_outputs(Y_), std::move(o));
  for (const Parameter& p : other.parameters().all()) {
    if (!p.path.starts_with("latent.") && !p.path.starts_with("features.")) continue;
    const Parameter& own = parameters_.at(p.path);
    if (own.trainable && own.tied_to.empty()) parameters_.set(p.path, p.value);
  }
}

// From several starts where they were asked for: the best by the mean that Adam keeps of the bound.
Summary StochasticGplvm::Impl::train_from_starts(NaturalGaussian& q, Jitter& jitter,
                                                 Trainer& trainer) {
  return best_start(
             trainer, options_.gplvm.first_start,
             std::max<Index>(1, options_.gplvm.training.starts),
             [&](Index start) {
               if (start > options_.gplvm.first_start) start_at(start);
               return train(q, jitter, trainer);
             },
             parameters_, q, jitter)
      .summary;
}

GplvmFit StochasticGplvm::Impl::fit() {
  Trainer trainer(options_.gplvm.training, std::exchange(resume_, {}));
  Summary summary;
  NaturalGaussian q = prior();
  Jitter jitter{options_.gplvm.jitter};
  if (options_.gplvm.training.max_iterations > 0) summary = train_from_starts(q, jitter, trainer);
  summary.to_log_density(log_jacobian_);
  GplvmFit out = finished(std::move(q), jitter, std::move(summary));
  trainer.complete(out.summary);
  out.summary.route = fmt::format("minibatches of {} of {} rows, natural gradients for q(u); {}",
                                  batch(), rows(), out.summary.route);
  return out;
}

GplvmFit StochasticGplvm::Impl::finished(NaturalGaussian q, Jitter jitter, Summary summary) {
  GplvmFit out;
  if (is_gaussian()) {  // the best q(u) is in closed form
    gplvm_.parameters() = parameters_;
    out = gplvm_.fit();
    summary.objective = out.summary.objective;
    summary.value = out.summary.value;
    summary.jitter = out.summary.jitter;
    summary.route = out.summary.route;
    summary.warnings.insert(summary.warnings.end(), out.summary.warnings.begin(),
                            out.summary.warnings.end());
    out.summary = std::move(summary);
    return out;
  }
  const bool trained = options_.gplvm.training.max_iterations > 0;
  const bool stopped = summary.stop == Stop::caller || summary.stop == Stop::seconds;
  QOptimum best = best_q(q, jitter,
                         stopped   ? 1
                         : trained ? std::max<Index>(1, options_.gplvm.training.final_sweeps)
                                   : 500);
  const Index N = rows(), Q = options_.gplvm.latent, P = Y_.cols();
  const Vector values = parameters_.values(), shared = values.tail(values.size() - 2 * N * Q);
  const UncollapsedValues at = unpack(shared, {});
  GplvmFit::Mapping mapping{
      LatentView(),
      InducingPosterior({{{options_.gplvm.kernel, at.theta.front(), features_, at.z.front(),
                           std::move(best.at.Luu.front()), best.at.jitter}},
                         Mean(),
                         Matrix(),
                         whole(q.q())}),
      Scaling::identity(P)};
  for (Index p = 0; p < P; ++p) mapping.view.columns.push_back(p);
  out.mappings.push_back(std::move(mapping));
  out.likelihood = options_.likelihood;
  out.likelihood_values =
      shared.segment(at.theta.front().size(), options_.likelihood.parameter_count());
  out.mean = Eigen::Map<const RowMatrix>(values.data(), N, Q);
  out.variance = Eigen::Map<const RowMatrix>(values.data() + N * Q, N, Q);
  out.kl_of_dims =
      0.5 * (out.mean.array().square() + out.variance.array() - out.variance.array().log() - 1.0)
                .colwise()
                .sum();
  out.parameters = parameters_;
  out.log_prior = parameters_.log_prior(values);
  out.value = best.at.value;
  summary.objective = "elbo";
  summary.value = out.value;
  summary.jitter = best.at.jitter;
  summary.route =
      fmt::format("{} by {} points for each row", options_.likelihood.print(), options_.draws);
  summary.warnings.insert(summary.warnings.begin(), warnings_.begin(), warnings_.end());
  out.summary = std::move(summary);
  return out;
}

}  // namespace covary
