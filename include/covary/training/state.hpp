#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "covary/training/adam.hpp"
#include "covary/training/problem.hpp"
#include "covary/training/summary.hpp"

namespace covary {

// Where a training by minibatches stands.
struct MinibatchState {
  AdamState adam;
  Index step = 0, steps = 0;  // the next one, of how many
  double initial_value = 0.0;
  std::vector<Summary::Point> trace = {};
  Blocks best = {};  // beside adam.best_u
};

// Where training stands: a chain of parts, of which some are over and one may be under way. All
// that the rest of it depends on besides the data and the options: given back to a model of the
// same, it ends with the same bits as if it had never stopped.
struct TrainingState {
  struct Part {
    LbfgsState run;  // without curvature; of work that is no minimisation, u alone
    Summary summary;
    Jitter jitter;
    Blocks blocks;
    std::string work = {};     // its name, of Trainer::once
    std::string failure = {};  // why there is no result
  };
  std::vector<Part> done;  // in order
  // Of the part under way, by L-BFGS or by minibatches:
  std::optional<LbfgsState> run = {};
  std::vector<Summary::Point> trace = {};
  std::optional<MinibatchState> minibatches = {};
  Jitter jitter = {};
  Blocks blocks = {};
  double seconds = 0.0;  // of all parts
};

// What training tells of itself after an iteration or a step.
struct TrainingProgress {
  Index part = 0;               // 0, 1, …
  Index start = 0, starts = 1;  // the one under way, of how many
  const LbfgsState* run = nullptr;
  const AdamState* adam = nullptr;  // of minibatches instead
  Index step = 0, steps = 0;        // likewise
  Jitter jitter = {};
  Index evaluations = 0;  // of all starts
  double seconds = 0.0;   // of the whole training
  bool over = false;      // the part: a good time to keep the state
  // Which it costs time and memory to put together.
  std::function<TrainingState()> state;
};

}  // namespace covary
