#include "training_session.hpp"

#include <utility>

#include "checkpointing.hpp"

namespace covary::cli {

TrainingSession::TrainingSession(const TrainingArguments& t, CheckpointArguments checkpoint,
                                 const Common& common)
    : t_(t),
      checkpoint_(std::move(checkpoint)),
      common_(common),
      checkpointing_(checkpoint_.file, [&](const std::string& text) { tell(common, text); }) {}

void TrainingSession::attach(TrainingOptions& training) {
  training.stop = Interruption::requested;
  training.tell = [this](const std::string& text) { tell(common_, text); };
  training.after_iteration = [this](const TrainingProgress& now) {
    if (progress_) progress_->show(now);
    checkpointing_.keep(now);
  };
}

void TrainingSession::begin(double shift) {
  progress_.emplace(Progress::kind(t_.verbose, common_.quiet), TrainingOptions().gradient_tolerance,
                    t_.max_iter, shift);
}

TrainingState TrainingSession::resume(const std::string& problem) {
  checkpointing_.problem = problem;
  return resumed_state(checkpoint_.file, checkpoint_.resume, problem, common_);
}

void TrainingSession::end() {
  if (progress_) progress_->clear();
  interruption_.reset();
}

}  // namespace covary::cli
