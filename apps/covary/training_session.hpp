#pragma once

#include <optional>

#include "common.hpp"
#include "covary/models/checkpointing.hpp"
#include "progress.hpp"
#include "training_arguments.hpp"

namespace covary::cli {

// Where the state of training is kept, if anywhere, and whether it is taken up from there.
struct CheckpointArguments {
  std::string file;
  bool resume = false;
};

// What is around the training of any model: progress, Ctrl-C and the checkpoint. It must outlive
// the training.
class TrainingSession {
 public:
  TrainingSession(const TrainingArguments& t, CheckpointArguments checkpoint, const Common& common);

  void attach(TrainingOptions& training);
  // `shift` makes the objective that of the data's units.
  void begin(double shift = 0.0);
  // The state to go on from, of a training that depends on what `problem` says; none without a
  // checkpoint.
  TrainingState resume(const std::string& problem);
  bool keeps() const { return !checkpoint_.file.empty(); }
  // Training is over: from here on Ctrl-C ends the process, as usual.
  void end();
  bool has_checkpoint() const { return checkpointing_.saved(); }

 private:
  const TrainingArguments& t_;
  CheckpointArguments checkpoint_;
  const Common& common_;
  std::optional<Interruption> interruption_{std::in_place};
  Checkpointing checkpointing_;
  std::optional<Progress> progress_;
};

}  // namespace covary::cli
