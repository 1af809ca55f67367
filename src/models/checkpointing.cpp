#include "covary/models/checkpointing.hpp"

#include <fmt/format.h>

#include <chrono>
#include <utility>

#include "covary/error.hpp"

namespace covary {
namespace {

double now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

}  // namespace

Checkpointing::Checkpointing(std::string path, std::function<void(const std::string&)> tell)
    : path_(std::move(path)), tell_(std::move(tell)) {}

void Checkpointing::keep(const TrainingProgress& progress) {
  if (path_.empty() || failed_) return;
  const double began = now();
  if (!progress.over && began < last_saved_ + 20.0 * cost_) return;
  try {
    save_checkpoint(path_, progress.state(), problem);
    saved_ = true;
  } catch (const FileError& e) {
    saved_ = false;
    failed_ = true;
    if (tell_) tell_(fmt::format("warning: no checkpoint, training goes on: {}", e.what()));
  }
  last_saved_ = now();
  cost_ = last_saved_ - began;
}

}  // namespace covary
