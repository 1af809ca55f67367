#pragma once

#include <functional>
#include <string>

#include "covary/models/checkpoint.hpp"

namespace covary {

// Keeps the state of training in a file. It is written after an iteration whenever twenty times as
// long has passed as the last writing took, so it costs at most some 5 % of the time, and when a
// part of training is over or was stopped. A file that cannot be written is told once, and training
// goes on. Without a path nothing is kept.
class Checkpointing {
 public:
  explicit Checkpointing(std::string path, std::function<void(const std::string&)> tell = nullptr);
  std::string problem;  // of save_checkpoint(); must be set before the first iteration
  void keep(const TrainingProgress& progress);
  bool saved() const { return saved_; }  // the file has the last state that was to be written

 private:
  std::string path_;
  std::function<void(const std::string&)> tell_;
  double last_saved_ = 0.0, cost_ = 0.0;  // seconds
  bool saved_ = false, failed_ = false;
};

}  // namespace covary
