#pragma once

#include <string>

#include "covary/linalg/types.hpp"

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

}  // namespace covary
