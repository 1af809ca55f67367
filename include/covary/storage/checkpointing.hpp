#pragma once

#include <functional>
#include <optional>
#include <string>
#include <variant>

#include "covary/storage/checkpoint.hpp"

namespace covary {

// Keeps the state of training in a file. It is written after an iteration whenever twenty times as
// long has passed as the last writing took, so it costs at most some 5 % of the time. A file that
// cannot be written is told once, and training goes on. Without a path nothing is kept.
class Checkpointing {
 public:
  explicit Checkpointing(std::string path, std::function<void(const std::string&)> tell = nullptr);
  std::string problem;  // of save_checkpoint(); must be set before the first iteration
  void keep(const TrainingState& state) { keep_any(state); }
  void keep(const SvgpState& state) { keep_any(state); }
  void keep(const GplvmState& state) { keep_any(state); }
  bool save();  // the last state kept, now; true when the file has it

 private:
  template <class State>
  void keep_any(const State& state);

  std::string path_;
  std::function<void(const std::string&)> tell_;
  std::optional<std::variant<TrainingState, SvgpState, GplvmState>> last_;
  double last_saved_ = 0.0, cost_ = 0.0;  // seconds
  bool saved_ = false, failed_ = false;
};

}  // namespace covary
