#pragma once

#include <functional>
#include <limits>
#include <string>

#include "covary/training/lbfgs.hpp"
#include "covary/training/learning_rate.hpp"

namespace covary {

struct TrainingProgress;

// How a model is trained, whichever it is: over all rows at once by L-BFGS, or by minibatches of
// rows with natural gradients for q(u) and Adam for the rest.
struct TrainingOptions {
  // Over all rows: limits and tolerances as in LbfgsOptions, of each start and part.
  Index max_iterations = 1000;  // 0 only evaluates, and so it does for minibatches
  Index max_evaluations = std::numeric_limits<Index>::max();
  double gradient_tolerance = 1e-6;
  double function_tolerance = 1e-10;
  Index memory = 20;
  // Starts of which the best is kept: the first suits the data, the others lie around it. 0: the
  // model's own number.
  Index starts = 0;

  // By minibatches of so many rows; 0: as the model has it.
  Index batch = 0;
  // So many steps, or passes over the rows; 0 and 0: the model's own number of passes, at least
  // 2000 and at most 20 000 steps.
  Index steps = 0, epochs = 0;
  // The length γ of natural-gradient steps, reached from a hundredth of it in natural_ramp steps;
  // for twice as many only q(u) moves.
  double natural_step = 0.1;
  Index natural_ramp = 20;
  // Adam moves the rest once in so many batches: where there are many inducing variables its
  // gradient costs as much as all else of a step.
  Index adam_every = 1;
  // rate = 0: the model's own; every = 0: as long as the run.
  LearningRate learning_rate = {0.0, LearningRate::Schedule::cosine, 0.05, 0, 0};
  // Steps of q(u) over all rows, the rest held, when the batches are done.
  Index final_sweeps = 10;

  // Of the whole training, with all of its parts and starts, also before it was resumed.
  double max_seconds = std::numeric_limits<double>::infinity();
  // Asked between evaluations; true ends training at the last iteration's point.
  std::function<bool()> stop = nullptr;
  // Called after every iteration and step, and when a part of training is over: for progress and
  // checkpoints.
  std::function<void(const TrainingProgress&)> after_iteration = nullptr;
  // What training is about to do, in words.
  std::function<void(const std::string&)> tell = nullptr;

  // Throws InputError naming the option that makes no sense.
  void check() const;
  void say(const std::string& text) const {
    if (tell) tell(text);
  }
  LbfgsOptions lbfgs() const;
};

}  // namespace covary
