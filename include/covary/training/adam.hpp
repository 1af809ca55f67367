#pragma once

#include <optional>
#include <string>

#include "covary/training/learning_rate.hpp"

namespace covary {

struct AdamOptions {
  LearningRate learning_rate = {};
  double beta1 = 0.9, beta2 = 0.999, epsilon = 1e-8;
  // The objective is followed by its mean over about this many steps, and compared as often.
  Index window = 50;
  // Diverged when that mean is so many standard deviations, which the single values had at its
  // best, above its best.
  double divergence = 5.0;
  Index most_rollbacks = 10;

  void check() const;
};

// Everything the next step depends on. Saved and given back to Adam, it continues with the same
// bits.
struct AdamState {
  Vector u;
  Vector first, second;               // moments of the gradient
  Index steps = 0;                    // all of them, with those undone
  Index since_restart = 0;            // of the moments
  double factor = 1.0;                // of the learning rate: halved by every rollback
  double mean = 0.0, variance = 0.0;  // of the objective, exponentially weighted
  double initial_value = 0.0;
  Vector best_u;
  double best_mean = 0.0, best_variance = 0.0;
  bool has_best = false;
  Index rollbacks = 0;
  Index failures = 0;  // evaluations that were not finite
};

// Adam (Kingma & Ba 2015) over an objective that is only known through noisy evaluations, to be
// minimised. Non-finite evaluations and a mean that rises far take it back to the best point seen,
// with half the learning rate. The caller evaluates at state().u and reports:
//
//   Adam adam(start);
//   for (…) { value = f(adam.state().u, batch, &gradient); adam.step(value, gradient); }
class Adam {
 public:
  explicit Adam(Vector start, AdamOptions options = {});
  Adam(AdamState state, AdamOptions options = {});

  enum class Outcome {
    moved,
    best,         // moved; the point it was at is the best yet, for those who keep more with it
    rolled_back,  // to the best point
    given_up      // rolled back too often; the point is the best one
  };
  // Nothing, or a value or gradient that is not finite, is a failed evaluation.
  Outcome step(std::optional<double> value, const Vector& gradient);

  const AdamState& state() const { return state_; }
  double rate() const;  // of the next step
  // One line on rollbacks, or empty when there were none.
  std::string warning() const;

 private:
  Outcome roll_back();
  AdamOptions options_;
  AdamState state_;
};

}  // namespace covary
