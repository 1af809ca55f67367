#pragma once

#include <functional>
#include <optional>
#include <string>

#include "covary/training/summary.hpp"

namespace covary {

// The learning rate of every step, 0, 1, …: a rise from zero over the first `warm_up` of them,
// times the schedule.
struct LearningRate {
  enum class Schedule {
    constant,
    exponential,  // rate·decay^(step/every)
    steps,        // the same with step/every rounded down
    cosine        // half a wave from rate to rate·decay over `every` steps, then level
  };
  double rate = 0.01;
  Schedule schedule = Schedule::constant;
  double decay = 0.1;
  Index every = 1000;
  Index warm_up = 0;

  double at(Index step) const;
  // Throws InputError naming the field that makes no sense.
  void check() const;
};
// "constant", "exponential", "steps" or "cosine"; InputError otherwise.
LearningRate::Schedule parse_schedule(const std::string& name);
std::string print(LearningRate::Schedule schedule);

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

// Runs `steps` of them over an objective that is told the number of the step, for its batch. The
// result is the last point, or the best one when the run gave up. The callback may stop it.
using StochasticObjective =
    std::function<std::optional<double>(const Vector& u, Index step, Vector* gradient)>;
struct AdamResult {
  AdamState state;
  Summary summary;  // value: the mean of the objective at the end
};
AdamResult minimise_stochastic(const StochasticObjective& objective, const Vector& start,
                               Index steps, const AdamOptions& options = {},
                               const std::function<bool(const AdamState&)>& callback = nullptr);

}  // namespace covary
