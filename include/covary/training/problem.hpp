#pragma once

#include <cmath>
#include <functional>
#include <optional>
#include <vector>

#include "covary/linalg/cholesky.hpp"
#include "covary/parameters/parameters.hpp"
#include "covary/training/lbfgs.hpp"

namespace covary {

// What training moves besides the parameters: natural parameters of q(u), and what belongs to rows.
// The model knows what they mean.
using Blocks = std::vector<Matrix>;

// A log density of the data or a bound of it, in model units, at the constrained values of the
// parameters, and its gradient by them where it is wanted. It may fail as an Objective may.
using Evaluate = std::function<std::optional<double>(ConstVector values, Vector* values_bar)>;

// −(log density + log priors) of the free unconstrained vector u: the one place where parameters
// are constrained, priors added and gradients pulled back. `evaluate` is called as an Evaluate.
template <class F>
std::optional<double> minus_log_posterior(const Parameters& parameters, const Vector& u,
                                          Vector* gradient, const F& evaluate) {
  const Vector values = parameters.constrain(u);
  if (!std::isfinite(values.sum())) return std::nullopt;  // one pass, in registers
  Vector bar;
  const std::optional<double> density = evaluate(values, gradient ? &bar : nullptr);
  if (!density) return std::nullopt;
  const double value = *density + parameters.log_prior(values, gradient ? &bar : nullptr);
  if (gradient) {
    *gradient = parameters.pullback(u, bar);
    *gradient *= -1.0;
  }
  return -value;
}

// What a model gives to be trained over all rows at once.
struct Problem {
  Parameters* parameters;  // where training starts, and what is held; the minimum is put there
  Jitter* jitter;          // that evaluations may raise
  Evaluate evaluate;
  // What an evaluation carries to the next, such as q(u).
  std::function<Blocks()> blocks = nullptr;
  std::function<void(const Blocks&)> set_blocks = nullptr;
  // What the model knows of its surface: LbfgsOptions::metric, blocks and relative_noise.
  std::function<void(LbfgsOptions&)> shape = nullptr;
};

// One step of minibatches.
struct MinibatchStep {
  Index number = 0, of = 0;
  double natural_step = 0.0;   // γ, with its ramp
  double relative_rate = 1.0;  // of what belongs to rows: its share of the first learning rate
  bool natural_only = false;   // only q(u) moves: no gradient is wanted
};

// What a model gives to be trained by minibatches.
struct MinibatchProblem {
  Parameters* parameters;  // that Adam moves
  Jitter* jitter;
  Index batches_per_pass;
  Index usual_passes;
  double usual_rate;
  // An estimate of −(log density + log priors) at u, and its gradient unless that is null; moves
  // the natural parameters and those of the batch's rows. Nothing, or NumericalError, where it
  // fails.
  std::function<std::optional<double>(const Vector& u, const MinibatchStep& step, Vector* gradient)>
      step;
  std::function<Blocks()> blocks;
  std::function<void(const Blocks&)> set_blocks;
  // The best point so far is here; back to it. (Taking blocks() at every best point would copy
  // them.)
  std::function<void()> keep_best, go_to_best;
  std::function<Blocks()> best_blocks;
  std::function<void(const Blocks&)> set_best_blocks;
  Index evaluations_of_step = 1;
};

}  // namespace covary
