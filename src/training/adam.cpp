#include "covary/training/adam.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "adam_update.hpp"
#include "covary/error.hpp"

namespace covary {
namespace {

void require(bool holds, const char* option, double value, const char* rule) {
  if (!holds) throw InputError(fmt::format("{} is {}; it must be {}", option, value, rule));
}

}  // namespace

void AdamOptions::check() const {
  learning_rate.check();
  require(beta1 >= 0.0 && beta1 < 1.0, "AdamOptions::beta1", beta1, "at least 0 and below 1");
  require(beta2 >= 0.0 && beta2 < 1.0, "AdamOptions::beta2", beta2, "at least 0 and below 1");
  require(epsilon > 0.0, "AdamOptions::epsilon", epsilon, "positive");
  require(window >= 1, "AdamOptions::window", static_cast<double>(window), "at least 1");
  require(divergence > 0.0, "AdamOptions::divergence", divergence, "positive");
  require(most_rollbacks >= 0, "AdamOptions::most_rollbacks", static_cast<double>(most_rollbacks),
          "at least 0");
}

Adam::Adam(Vector start, AdamOptions options) : options_(options) {
  options_.check();
  if (!start.allFinite()) throw InputError("the start of Adam has a value that is not finite");
  state_.first = state_.second = Vector::Zero(start.size());
  state_.best_u = start;
  state_.u = std::move(start);
}

Adam::Adam(AdamState state, AdamOptions options) : options_(options), state_(std::move(state)) {
  options_.check();
  const Index n = state_.u.size();
  if (state_.first.size() != n || state_.second.size() != n || state_.best_u.size() != n ||
      state_.steps < 0 || state_.since_restart < 0)
    throw InputError("the state of Adam is not whole: its vectors differ in size");
}

double Adam::rate() const { return state_.factor * options_.learning_rate.at(state_.steps); }

Adam::Outcome Adam::roll_back() {
  state_.u = state_.best_u;
  state_.first.setZero();
  state_.second.setZero();
  state_.since_restart = 0;
  if (state_.rollbacks == options_.most_rollbacks) return Outcome::given_up;
  ++state_.rollbacks;
  state_.factor *= 0.5;
  return Outcome::rolled_back;
}

Adam::Outcome Adam::step(std::optional<double> value, const Vector& gradient) {
  const double rate_now = rate();
  if (state_.steps++ == 0 && value) state_.initial_value = *value;
  if (!value || !std::isfinite(*value) || !gradient.allFinite()) {
    ++state_.failures;
    return roll_back();
  }
  AdamState& s = state_;
  const Index k = ++s.since_restart;
  const double share = 1.0 / static_cast<double>(std::min(k, options_.window));
  const double e = *value - (k == 1 ? *value : s.mean);
  s.mean = k == 1 ? *value : s.mean + share * e;
  s.variance = k == 1 ? 0.0 : (1.0 - share) * (s.variance + share * e * e);

  Outcome outcome = Outcome::moved;
  if (k % options_.window == 0) {
    const double spread = std::sqrt(s.best_variance) + 1e-3 * (1.0 + std::abs(s.best_mean));
    if (s.has_best && s.mean > s.best_mean + options_.divergence * spread) return roll_back();
    if (!s.has_best || s.mean < s.best_mean) {
      s.best_mean = s.mean;
      s.best_variance = s.variance;
      s.best_u = s.u;
      s.has_best = true;
      outcome = Outcome::best;
    }
  }
  adam_update(s.u.array(), s.first.array(), s.second.array(), gradient.array(),
              static_cast<double>(k), rate_now, options_.beta1, options_.beta2, options_.epsilon);
  return outcome;
}

std::string Adam::warning() const {
  if (state_.rollbacks == 0) return {};
  return fmt::format(
      "training diverged and was taken back {} time{} ({} evaluations failed); the learning rate "
      "ended at {:.2g}: start with a lower one",
      state_.rollbacks, state_.rollbacks == 1 ? "" : "s", state_.failures, rate());
}

}  // namespace covary
