#include "covary/training/learning_rate.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "covary/error.hpp"

namespace covary {
namespace {

constexpr std::pair<const char*, LearningRate::Schedule> schedules[] = {
    {"constant", LearningRate::Schedule::constant},
    {"exponential", LearningRate::Schedule::exponential},
    {"steps", LearningRate::Schedule::steps},
    {"cosine", LearningRate::Schedule::cosine}};

void require(bool holds, const char* field, double value, const char* rule) {
  if (!holds)
    throw InputError(fmt::format("LearningRate::{} is {}; it must be {}", field, value, rule));
}

}  // namespace

LearningRate::Schedule parse_schedule(const std::string& name) {
  for (const auto& [text, schedule] : schedules)
    if (name == text) return schedule;
  throw InputError(fmt::format(
      "unknown learning-rate schedule '{}'; choose constant, exponential, steps or cosine", name));
}

std::string print(LearningRate::Schedule schedule) {
  for (const auto& [text, which] : schedules)
    if (which == schedule) return text;
  return {};
}

double LearningRate::at(Index step) const {
  const double s = static_cast<double>(step), e = static_cast<double>(every);
  double f = 1.0;
  switch (schedule) {
    case Schedule::constant:
      break;
    case Schedule::exponential:
      f = std::pow(decay, s / e);
      break;
    case Schedule::steps:
      f = std::pow(decay, std::floor(s / e));
      break;
    case Schedule::cosine: {
      const double way = std::min(1.0, s / e);
      f = decay + (1.0 - decay) * 0.5 * (1.0 + std::cos(std::numbers::pi * way));
      break;
    }
  }
  if (step < warm_up) f *= (s + 1.0) / static_cast<double>(warm_up);
  return rate * f;
}

void LearningRate::check() const {
  require(rate > 0.0 && std::isfinite(rate), "rate", rate, "positive and finite");
  require(decay > 0.0 && decay <= 1.0, "decay", decay, "above 0 and at most 1");
  require(every >= 1, "every", static_cast<double>(every), "at least 1");
  require(warm_up >= 0, "warm_up", static_cast<double>(warm_up), "at least 0");
}

}  // namespace covary
