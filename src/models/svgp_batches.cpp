// Training over minibatches: natural gradients for q and Adam for the rest.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>

#include "covary/error.hpp"
#include "covary/linalg/blas.hpp"
#include "covary/models/svgp.hpp"
#include "covary/random/random.hpp"

namespace covary {
namespace {

using Clock = std::chrono::steady_clock;

// A step takes a dozen M×M matrices from the allocator. That of glibc returns such blocks to the
// system at once, until it has seen a larger one freed; the page faults were a fifth of a step.
void keep_freed_memory() {
  Vector large(Index{3} << 20);
  large(0) = 1.0;
  volatile double used = large(0);
  static_cast<void>(used);
}

// A run of rows of another source.
class RowWindow : public RowSource {
 public:
  RowWindow(const RowSource& all, Index first, Index n) : all_(all), first_(first), n_(n) {}
  Index rows() const override { return n_; }
  Index dims() const override { return all_.dims(); }
  Index outputs() const override { return all_.outputs(); }
  DataBlock read(Index first, Index n, ReadBuffer& buffer) const override {
    return all_.read(first_ + first, n, buffer);
  }

 private:
  const RowSource& all_;
  Index first_, n_;
};

// The minibatches of the steps 0, 1, …: every pass visits every row once, in an order of its own;
// the last batch of a pass may be smaller. Of rows in a file, batches are runs in any order.
class Batches {
 public:
  Batches(const RowSource& rows, bool in_memory, Index size, std::uint64_t seed)
      : rows_(rows),
        in_memory_(in_memory),
        size_(size),
        per_pass_((rows.rows() + size - 1) / size),
        seed_(seed) {
    if (!in_memory_) return;
    X_.resize(size, rows.dims());
    y_.resize(size, 1);
    aux_.resize(size);
    weights_.resize(size);
  }
  Index per_pass() const { return per_pass_; }

  template <class Use>
  auto with(Index step, const Use& use) {
    const Index pass = step / per_pass_, place = step % per_pass_;
    if (pass != pass_) {
      Random random(seed_, 0xba7c4 + static_cast<std::uint64_t>(pass));
      order_ = random.permutation(in_memory_ ? rows_.rows() : per_pass_);
      pass_ = pass;
    }
    if (!in_memory_) {
      const Index first = order_[static_cast<std::size_t>(place)] * size_;
      return use(RowWindow(rows_, first, std::min(size_, rows_.rows() - first)));
    }
    const Index n = std::min(size_, rows_.rows() - place * size_);
    ReadBuffer none;
    const DataBlock all = rows_.read(0, rows_.rows(), none);
    for (Index i = 0; i < n; ++i) {
      const Index row = order_[static_cast<std::size_t>(place * size_ + i)];
      std::copy_n(all.x.row(row), all.x.dims, X_.row(i).data());
      y_(i, 0) = all.y[row];
      if (all.noise) aux_(i) = all.noise[row];
      if (all.weights) weights_(i) = all.weights[row];
    }
    return use(MemoryRows(X_.topRows(n), y_.topRows(n), aux_.head(all.noise ? n : 0),
                          weights_.head(all.weights ? n : 0)));
  }

 private:
  const RowSource& rows_;
  bool in_memory_;
  Index size_, per_pass_;
  std::uint64_t seed_;
  Index pass_ = -1;
  std::vector<Index> order_;
  RowMatrix X_, y_;
  Vector aux_, weights_;
};

}  // namespace

// One natural-gradient step of q; returns how often it was shortened. A move that is large for q
// and for the noise of batches is tried on its own batch first: a log link from the prior to counts
// of hundreds would leap by exp of the error.
Index Svgp::step_q(const RowSource& rows, double value, const Vector& u,
                   const UncollapsedGradient& of_q, double gamma, NaturalGaussian& q,
                   Jitter& jitter) const {
  const double share = static_cast<double>(rows_->rows()) / static_cast<double>(rows.rows());
  const double usual =
      std::sqrt(share * static_cast<double>(q.size() * latents()));  // of the noise, for γ = 1
  double move = 0.0;
  for (Index l = 0; l < latents(); ++l) {
    Matrix e = of_q.g.col(l) - q.q().m.col(l);
    multiply_lower(q.q().Ls[static_cast<std::size_t>(l)], e, Op::transpose);
    move += e.squaredNorm();
  }
  move = gamma * std::sqrt(move);
  if (q_options().conjugate || move <= std::max(2.0, 2.0 * gamma * usual)) {
    const Index own = q.step(of_q.g, of_q.H, gamma);
    return own < 0 ? 1 : own;
  }
  const NaturalGaussian before = q;
  UncollapsedGradient unused;
  for (Index shortened = 0; shortened < 30; ++shortened, gamma *= 0.5) {
    if (q.step(of_q.g, of_q.H, gamma) >= 0) {
      const double there = batch_objective(u, rows, q, jitter, nullptr, unused);
      if (there <= value) return shortened;
    }
    q = before;
  }
  return 30;
}

Summary Svgp::train_batches(SvgpState& state) {
  const auto began = Clock::now();
  const double before = state.seconds;
  const auto seconds = [&] {
    return before + std::chrono::duration<double>(Clock::now() - began).count();
  };
  NaturalGaussian& q = state.q;
  Jitter& jitter = state.jitter;
  Batches batches(*rows_, in_memory_, batch_, options_.seed);
  const Index steps = options_.steps    ? options_.steps
                      : options_.epochs ? options_.epochs * batches.per_pass()
                                        : std::clamp<Index>(20 * batches.per_pass(), 2000, 20000);
  // At first q alone: the gradients of the rest at a q far from its place are huge, and Adam would
  // remember them for a thousand steps.
  const Index hold = std::min(2 * options_.natural_ramp, steps / 5);
  const Index moves = (steps - hold + options_.adam_every - 1) / options_.adam_every;
  AdamOptions options;
  options.learning_rate = options_.learning_rate;
  if (options.learning_rate.every == 0)
    options.learning_rate.every = (steps + options_.adam_every - 1) / options_.adam_every;
  say(fmt::format("{} steps of minibatches of {} rows: {:.1f} passes over {} rows", steps, batch_,
                  static_cast<double>(steps) / static_cast<double>(batches.per_pass()),
                  rows_->rows()));
  Adam adam =
      state.adam ? Adam(std::move(*state.adam), options) : Adam(parameters_.flatten(), options);
  if (state.step == 0) state.best_q = q;
  keep_freed_memory();
  UncollapsedGradient of_q;
  Vector gradient = Vector::Zero(parameters_.free_size());
  Summary summary;
  summary.reason = fmt::format("made {} steps of minibatches", steps);
  const Index mark = std::max<Index>(1, steps / options_.adam_every / 100);
  const auto stopped = [&] {
    if (options_.training.stop && options_.training.stop())
      summary.reason = "stopped by the caller";
    else if (seconds() >= options_.training.max_seconds)
      summary.reason =
          fmt::format("the limit of {} seconds was reached", options_.training.max_seconds);
    else
      return false;
    return true;
  };
  bool whole = true;
  const auto told = [&] {
    if (!options_.after_iteration) return;
    state.adam = adam.state();
    state.seconds = seconds();
    options_.after_iteration(state);
  };
  while (state.step < steps) {
    if (stopped()) {
      whole = false;
      break;
    }
    const Index step = state.step++;
    const double ramp = step < options_.natural_ramp
                            ? std::pow(0.01, 1.0 - static_cast<double>(step) /
                                                       static_cast<double>(options_.natural_ramp))
                            : 1.0;
    std::optional<double> value;
    const bool held = step < hold || (step - hold) % options_.adam_every != 0;
    try {
      value = batches.with(step, [&](const RowSource& rows) {
        return batch_objective(adam.state().u, rows, q, jitter, held ? nullptr : &gradient, of_q);
      });
      if (std::isfinite(*value))
        state.shortened += batches.with(step, [&](const RowSource& rows) {
          return step_q(rows, *value, adam.state().u, of_q, ramp * options_.natural_step, q,
                        jitter);
        });
    } catch (const NumericalError& e) {
      say(fmt::format("step {} failed: {}", step, e.what()));
    }
    if (step == 0) state.initial_value = -value.value_or(0.0);
    if (held) {
      told();
      continue;
    }
    const Adam::Outcome outcome = adam.step(value, gradient);
    if (outcome == Adam::Outcome::best) state.best_q = q;
    if (outcome == Adam::Outcome::rolled_back || outcome == Adam::Outcome::given_up)
      q = state.best_q;
    if ((adam.state().steps - 1) % mark == 0 || adam.state().steps == moves)
      state.trace.push_back({step, -adam.state().mean,
                             gradient.size() ? gradient.cwiseAbs().maxCoeff() : 0.0, seconds()});
    told();
    if (outcome == Adam::Outcome::given_up) {
      summary.reason = fmt::format("diverged again after {} rollbacks", options.most_rollbacks);
      whole = false;
      break;
    }
  }
  const AdamState& s = adam.state();
  parameters_.set_values(parameters_.constrain(s.u));
  summary.initial_value = state.initial_value;
  summary.trace = state.trace;
  summary.evaluations = summary.iterations = state.step;
  summary.rejected_evaluations = s.failures;
  summary.gradient_norm = summary.trace.empty() ? 0.0 : summary.trace.back().gradient_norm;
  if (const std::string w = adam.warning(); !w.empty()) summary.warnings.push_back(w);
  if (state.shortened > 0)
    say(fmt::format("natural-gradient steps were halved {} times to keep q in bounds",
                    state.shortened));
  // Over the last quarter the mean rose by next to nothing: of the whole rise, or of its own noise.
  const auto& trace = summary.trace;
  if (whole && trace.size() >= 8) {
    const double rise = trace.back().value - trace[trace.size() * 3 / 4].value;
    const double noise = std::sqrt(s.variance / static_cast<double>(options.window));
    summary.converged =
        rise <= std::max(0.01 * (trace.back().value - trace.front().value), 2.0 * noise);
    if (!summary.converged)
      summary.reason += fmt::format("; the bound still rose by {:.3g} in the last quarter", rise);
  }
  return summary;
}

}  // namespace covary
