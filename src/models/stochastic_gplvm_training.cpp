// Training over minibatches of rows: Adam for q(x) of the rows of a batch, natural gradients for
// q(u), Adam for what all rows share.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>

#include "covary/error.hpp"
#include "covary/linalg/blas.hpp"
#include "models/batches.hpp"
#include "models/row_adam.hpp"
#include "models/stochastic_gplvm_batch.hpp"

namespace covary {

// Where training stands.
struct StochasticGplvm::State {
  NaturalGaussian q;
  RowAdam latent;  // means and log variances
  Jitter jitter;
  double gamma = 0.0, local_rate = 0.0;  // of the step to make
  bool only_q = false;
  Index shortened = 0;
};

// Minus the bound and log prior as a batch tells them; moves q(x) and q(u), and gives the gradient
// of what all rows share by the free vector u.
double StochasticGplvm::step(State& s, std::span<const Index> rows, const Parameters& shared,
                             const Vector& u, Vector& gradient) const {
  const Index Q = options_.gplvm.latent;
  const Vector values = shared.constrain(u);
  Gradient g;
  double value = 0.0;
  const Index moves = s.only_q ? 1 : options_.local_steps;
  Batch b;
  for (Index l = 0; l < moves; ++l) {
    const RowMatrix mean = s.latent.u.leftCols(Q), variance = s.latent.u.rightCols(Q).array().exp();
    b = batch_of(rows, mean, variance);
    value = evaluate(b, values, s.q.q(), s.jitter, &g);
    if (s.only_q) break;
    RowMatrix down(b.mean.rows(), 2 * Q);
    down << -g.mean_bar, -(g.variance_bar.array() * b.variance.array()).matrix();
    if (!parameters_.at("latent.mean").trainable) down.leftCols(Q).setZero();
    if (!parameters_.at("latent.variance").trainable) down.rightCols(Q).setZero();
    s.latent.step(rows, down, s.local_rate);
  }
  if (!std::isfinite(value)) return value;
  const NaturalGaussian before = s.q;
  double gamma = s.gamma;
  for (Index shortened = 0; shortened < 20; ++shortened, gamma *= 0.5, ++s.shortened) {
    // A whole step of Gaussian noise never leaps; other links may, by exp of the error.
    if (s.q.step(g.of_q.g, g.of_q.H, gamma) >= 0 &&
        (is_gaussian() || evaluate(b, values, s.q.q(), s.jitter, nullptr) >= value))
      break;
    s.q = before;
  }
  Vector bar = g.values_bar;
  value += shared.log_prior(values, &bar);
  gradient = -shared.pullback(u, bar);
  return -value;
}

void StochasticGplvm::train(NaturalGaussian& q, Jitter& jitter, Summary& summary) {
  using Clock = std::chrono::steady_clock;
  const auto began = Clock::now();
  const auto seconds = [&] { return std::chrono::duration<double>(Clock::now() - began).count(); };
  const Index N = rows(), Q = options_.gplvm.latent;
  BatchOrder order(N, options_.batch, options_.gplvm.seed);
  const Index steps = options_.steps    ? options_.steps
                      : options_.epochs ? options_.epochs * order.per_pass()
                                        : std::clamp<Index>(50 * order.per_pass(), 2000, 20000);
  // At first q(u) alone, then all but the noise and the kernel's variance: freed too early they
  // would explain the outputs as noise.
  const Index only_q = std::min(2 * options_.natural_ramp, steps / 5), held = steps / 5;
  say(fmt::format("{} steps of minibatches of {} rows: {:.1f} passes over {} rows", steps,
                  options_.batch,
                  static_cast<double>(steps) / static_cast<double>(order.per_pass()), N));
  const Parameters shared = of_all();
  std::vector<Index> variances;
  const std::vector<std::string> names = shared.free_names();
  for (std::size_t i = 0; i < names.size(); ++i)
    if (names[i].ends_with(".variance")) variances.push_back(static_cast<Index>(i));
  AdamOptions adam_options;
  adam_options.learning_rate = options_.learning_rate;
  if (adam_options.learning_rate.every == 0) adam_options.learning_rate.every = steps;
  Adam adam(shared.flatten(), adam_options);
  const Vector values = parameters_.values();
  RowMatrix start(N, 2 * Q);
  start << Eigen::Map<const RowMatrix>(values.data(), N, Q),
      Eigen::Map<const RowMatrix>(values.data() + N * Q, N, Q).array().log().matrix();
  State s{q, RowAdam(std::move(start)), jitter};
  NaturalGaussian best_q = s.q;
  RowAdam best_latent = s.latent;
  Vector gradient = Vector::Zero(shared.free_size());
  summary.reason = fmt::format("made {} steps of minibatches", steps);
  const Index mark = std::max<Index>(1, steps / 100);
  for (Index at = 0; at < steps; ++at) {
    if (options_.gplvm.training.stop && options_.gplvm.training.stop()) {
      summary.reason = "stopped by the caller";
      break;
    }
    if (seconds() >= options_.gplvm.training.max_seconds) {
      summary.reason =
          fmt::format("the limit of {} seconds was reached", options_.gplvm.training.max_seconds);
      break;
    }
    const double part =
        static_cast<double>(at) / static_cast<double>(std::max<Index>(1, options_.natural_ramp));
    s.gamma = options_.natural_step * (part < 1.0 ? std::pow(0.01, 1.0 - part) : 1.0);
    s.only_q = at < only_q;
    s.local_rate = options_.local_rate * adam_options.learning_rate.at(adam.state().steps) /
                   options_.learning_rate.rate * adam.state().factor;
    std::optional<double> value;
    try {
      value = step(s, order.at(at), shared, adam.state().u, gradient);
    } catch (const NumericalError& e) {
      say(fmt::format("step {} failed: {}", at, e.what()));
    }
    ++summary.iterations;
    if (at == 0) summary.initial_value = -value.value_or(0.0);
    if (s.only_q) continue;
    if (at < held) gradient(variances).setZero();
    const Adam::Outcome outcome = adam.step(value, gradient);
    if (outcome == Adam::Outcome::best) {
      best_q = s.q;
      best_latent = s.latent;
    } else if (outcome == Adam::Outcome::rolled_back || outcome == Adam::Outcome::given_up) {
      s.q = best_q;
      s.latent = best_latent;
    }
    if (at % mark == 0 || at + 1 == steps)
      summary.trace.push_back({at, -adam.state().mean,
                               gradient.size() ? gradient.cwiseAbs().maxCoeff() : 0.0, seconds()});
    if (outcome == Adam::Outcome::given_up) {
      summary.reason =
          fmt::format("diverged again after {} rollbacks", adam_options.most_rollbacks);
      break;
    }
  }
  summary.evaluations = summary.iterations * options_.local_steps;
  if (const std::string text = adam.warning(); !text.empty()) summary.warnings.push_back(text);
  if (s.shortened > 0) say(fmt::format("steps of q(u) were shortened {} times", s.shortened));
  Vector all(values.size());
  RowMatrix mean = s.latent.u.leftCols(Q), variance = s.latent.u.rightCols(Q).array().exp();
  all << Eigen::Map<const Vector>(mean.data(), N * Q),
      Eigen::Map<const Vector>(variance.data(), N * Q), shared.constrain(adam.state().u);
  parameters_.set_values(all);
  q = s.q;
  jitter = s.jitter;
}

GplvmFit StochasticGplvm::fit() {
  const auto began = std::chrono::steady_clock::now();
  Summary summary;
  NaturalGaussian q = prior();
  Jitter jitter{options_.gplvm.jitter};
  if (options_.gplvm.training.max_iterations > 0) {
    train(q, jitter, summary);
  } else {
    summary.reason = "evaluated at the given parameters";
    summary.evaluations = 1;
  }
  for (auto& p : summary.trace) p.value -= log_jacobian_;
  summary.initial_value -= log_jacobian_;
  GplvmFit out = finished(std::move(q), jitter, std::move(summary));
  out.summary.route = fmt::format("minibatches of {} of {} rows, natural gradients for q(u); {}",
                                  options_.batch, rows(), out.summary.route);
  out.summary.seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
  return out;
}

GplvmFit StochasticGplvm::finished(NaturalGaussian q, Jitter jitter, Summary summary) {
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
  QOptimum best = best_q(q, jitter, trained ? options_.final_sweeps : 500);
  const Index N = rows(), Q = options_.gplvm.latent, P = Y_.cols();
  const Vector values = parameters_.values(), shared = values.tail(values.size() - 2 * N * Q);
  const UncollapsedValues at = unpack(shared, {});
  // q(u) in the form of a posterior of Gaussian outputs: B = LB·LBᵀ is its precision, c = LBᵀm.
  std::vector<SparseFactors> factors;
  for (Index p = 0; p < P; ++p) {
    SparseFactors f;
    f.columns = {p};
    f.LB = cholesky(q.precision()[static_cast<std::size_t>(p)], "the precision of q(u)").L;
    f.c = q.q().m.col(p);
    multiply_lower(f.LB, f.c, Op::transpose);
    f.rows = static_cast<double>(N);
    factors.push_back(std::move(f));
  }
  GplvmFit::Mapping mapping{
      {"", {}},
      SparsePosterior({"vfe", options_.gplvm.kernel, Mean(), features_,
                       SparseValues{at.theta.front(), at.z.front(), 1.0, Matrix()},
                       std::move(best.at.Luu.front()), best.at.jitter, std::move(factors)}),
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
  out.elbo = best.at.value;
  summary.objective = "elbo";
  summary.value = out.elbo;
  summary.jitter = best.at.jitter;
  summary.route =
      fmt::format("{} by {} points for each row", options_.likelihood.print(), options_.draws);
  summary.warnings.insert(summary.warnings.begin(), warnings_.begin(), warnings_.end());
  out.summary = std::move(summary);
  return out;
}

}  // namespace covary
