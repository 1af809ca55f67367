#include "covary/training/options.hpp"

#include <fmt/format.h>

#include <cmath>

#include "covary/error.hpp"

namespace covary {
namespace {

void require(bool holds, const char* option, double value, const char* rule) {
  if (!holds) throw InputError(fmt::format("{} is {}; it must be {}", option, value, rule));
}

void require_count(const char* option, Index value) {
  if (value < 0) throw InputError(fmt::format("{} must not be negative, got {}", option, value));
}

}  // namespace

LbfgsOptions TrainingOptions::lbfgs() const {
  LbfgsOptions out;
  out.memory = memory;
  out.max_iterations = max_iterations;
  out.max_evaluations = max_evaluations;
  out.max_seconds = max_seconds;
  out.gradient_tolerance = gradient_tolerance;
  out.function_tolerance = function_tolerance;
  out.stop = stop;
  return out;
}

void TrainingOptions::check() const {
  lbfgs().check();
  require_count("starts", starts);
  require(batch >= 0, "batch", static_cast<double>(batch), "0 (automatic) or positive");
  require(steps >= 0, "steps", static_cast<double>(steps), "0 (automatic) or positive");
  require(epochs >= 0, "epochs", static_cast<double>(epochs), "0 (automatic) or positive");
  require(natural_step > 0.0 && natural_step <= 1.0, "natural_step", natural_step,
          "above 0 and at most 1");
  require(natural_ramp >= 0, "natural_ramp", static_cast<double>(natural_ramp), "at least 0");
  require(adam_every >= 1, "adam_every", static_cast<double>(adam_every), "at least 1");
  require(final_sweeps >= 0, "final_sweeps", static_cast<double>(final_sweeps), "at least 0");
  LearningRate rate = learning_rate;
  if (rate.every == 0) rate.every = 1;
  if (rate.rate == 0.0) rate.rate = 1.0;
  rate.check();
}

}  // namespace covary
