#pragma once

#include <optional>

#include "common.hpp"
#include "covary/models/checkpointing.hpp"
#include "covary/models/request.hpp"
#include "progress.hpp"

namespace covary::cli {

// What is around the training of any model at the command line: progress, Ctrl-C and the
// checkpoint. It must outlive the training.
class TrainingSession : public FitSession {
 public:
  TrainingSession(const FitOptions& options, const Common& common);

  void attach(TrainingOptions& training) override;
  bool keeps() const override { return !options_.checkpoint.empty(); }
  TrainingState resume(const std::string& problem) override;
  void begin(double shift) override;
  // From here on Ctrl-C ends the process, as usual.
  void end() override;
  bool has_checkpoint() const { return checkpointing_.saved(); }

 private:
  FitOptions options_;
  const Common& common_;
  std::optional<Interruption> interruption_{std::in_place};
  Checkpointing checkpointing_;
  std::optional<Progress> progress_;
};

}  // namespace covary::cli
