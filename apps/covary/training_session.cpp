#include "training_session.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <utility>

#include "covary/models/checkpoint.hpp"

namespace covary::cli {

TrainingSession::TrainingSession(const FitOptions& options, const Common& common)
    : options_(options),
      common_(common),
      checkpointing_(options.checkpoint, [&](const std::string& text) { tell(common, text); }) {}

void TrainingSession::attach(TrainingOptions& training) {
  training.stop = Interruption::requested;
  training.tell = [this](const std::string& text) { tell(common_, text); };
  training.after_iteration = [this](const TrainingProgress& now) {
    if (!progress_) begin(0.0);  // of an input map, which is trained before the model
    progress_->show(now);
    checkpointing_.keep(now);
  };
}

void TrainingSession::begin(double shift) {
  if (progress_) progress_->clear();
  progress_.emplace(Progress::kind(options_.verbose, common_.quiet),
                    TrainingOptions().gradient_tolerance, options_.max_iter, shift);
}

TrainingState TrainingSession::resume(const std::string& problem) {
  checkpointing_.problem = problem;
  const std::string& file = options_.checkpoint;
  if (!options_.resume) return {};
  if (!std::filesystem::exists(file)) {
    // One command serves first and later runs.
    tell(common_, fmt::format("no checkpoint in {} yet: training starts from scratch", file));
    return {};
  }
  TrainingState state = load_checkpoint(file, problem);
  tell(common_, state.minibatches
                    ? fmt::format("resumed at step {}", state.minibatches->step)
                    : fmt::format("resumed at iteration {} of part {}",
                                  state.run ? state.run->iterations : 0, state.done.size()));
  return state;
}

void TrainingSession::end() {
  if (progress_) progress_->clear();
  interruption_.reset();
}

}  // namespace covary::cli
