#include "covary/storage/checkpointing.hpp"

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

template <class State>
void Checkpointing::keep_any(const State& state) {
  if (path_.empty()) return;
  last_ = state;
  if (!failed_ && now() >= last_saved_ + 20.0 * cost_) save();
}
template void Checkpointing::keep_any(const TrainingState&);
template void Checkpointing::keep_any(const SvgpState&);
template void Checkpointing::keep_any(const GplvmState&);

bool Checkpointing::save() {
  if (!last_) return saved_;
  const double began = now();
  try {
    std::visit([&](const auto& state) { save_checkpoint(path_, state, problem); }, *last_);
    last_.reset();
    saved_ = true;
  } catch (const FileError& e) {
    saved_ = false;
    failed_ = true;
    if (tell_) tell_(fmt::format("warning: no checkpoint, training goes on: {}", e.what()));
  }
  last_saved_ = now();
  cost_ = last_saved_ - began;
  return saved_;
}

}  // namespace covary
