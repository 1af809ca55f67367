#include "covary/training/adam.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
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

void require(bool holds, const char* option, double value, const char* rule) {
  if (!holds) throw InputError(fmt::format("{} is {}; it must be {}", option, value, rule));
}

}  // namespace

LearningRate::Schedule parse_schedule(const std::string& name) {
  for (const auto& [text, schedule] : schedules)
    if (name == text) return schedule;
  throw InputError(fmt::format(
      "«{}» is no schedule of a learning rate; there are constant, exponential, steps and cosine",
      name));
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
  require(rate > 0.0 && std::isfinite(rate), "LearningRate::rate", rate, "positive and finite");
  require(decay > 0.0 && decay <= 1.0, "LearningRate::decay", decay, "above 0 and at most 1");
  require(every >= 1, "LearningRate::every", static_cast<double>(every), "at least 1");
  require(warm_up >= 0, "LearningRate::warm_up", static_cast<double>(warm_up), "at least 0");
}

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
  s.first = options_.beta1 * s.first + (1.0 - options_.beta1) * gradient;
  s.second = options_.beta2 * s.second + (1.0 - options_.beta2) * gradient.cwiseAbs2();
  const double c1 = 1.0 - std::pow(options_.beta1, static_cast<double>(k));
  const double c2 = 1.0 - std::pow(options_.beta2, static_cast<double>(k));
  s.u.array() -=
      rate_now / c1 * s.first.array() / ((s.second.array() / c2).sqrt() + options_.epsilon);
  return outcome;
}

std::string Adam::warning() const {
  if (state_.rollbacks == 0) return {};
  return fmt::format(
      "training diverged and was taken back {} time{} ({} evaluations failed); the learning rate "
      "ended at {:.2g}: start with a lower one",
      state_.rollbacks, state_.rollbacks == 1 ? "" : "s", state_.failures, rate());
}

AdamResult minimise_stochastic(const StochasticObjective& objective, const Vector& start,
                               Index steps, const AdamOptions& options,
                               const std::function<bool(const AdamState&)>& callback) {
  const auto began = std::chrono::steady_clock::now();
  Adam adam(start, options);
  AdamResult out;
  out.summary.reason = fmt::format("made {} steps", steps);
  Vector gradient(start.size());
  for (Index i = 0; i < steps; ++i) {
    std::optional<double> value;
    try {
      value = objective(adam.state().u, i, &gradient);
    } catch (const NumericalError&) {
      ++out.summary.rejected_evaluations;
    }
    if (adam.step(value, gradient) == Adam::Outcome::given_up) {
      out.summary.reason = fmt::format("diverged again after {} rollbacks", options.most_rollbacks);
      break;
    }
    if (callback && !callback(adam.state())) {
      out.summary.reason = "stopped by the caller";
      break;
    }
  }
  out.state = adam.state();
  out.summary.iterations = out.summary.evaluations = out.state.steps;
  out.summary.rejected_evaluations = out.state.failures;
  out.summary.value = out.state.mean;
  out.summary.initial_value = out.state.initial_value;
  if (const std::string w = adam.warning(); !w.empty()) out.summary.warnings.push_back(w);
  out.summary.seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
  return out;
}

}  // namespace covary
