#pragma once

#include <optional>
#include <string>

#include "common.hpp"
#include "training_arguments.hpp"

namespace covary::cli {

// A digest of all that the course of training depends on: the data, the kernel, the parameters with
// their settings, the seed. Limits are not in it: they may be raised on resuming.
std::string problem_digest(const TrainingData& d, const RegressionOptions& options,
                           const Parameters& parameters);

// Keeps the state of training in a file. It is written after an iteration whenever twenty times as
// long has passed as the last writing took, so it costs at most some 5 % of the time. A file that
// cannot be written is told once, and training goes on.
class Checkpointing {
 public:
  Checkpointing(std::string path, const Common& common) : path_(std::move(path)), common_(common) {}
  std::string problem;  // must be set before the first iteration
  void keep(const TrainingState& state);
  bool save();  // the last state kept, now; true when the file has it

 private:
  std::string path_;
  const Common& common_;
  std::optional<TrainingState> last_;
  double last_saved_ = 0.0, cost_ = 0.0;  // seconds
  bool saved_ = false, failed_ = false;
};

}  // namespace covary::cli
