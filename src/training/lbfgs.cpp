#include "covary/training/lbfgs.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <utility>

#include "covary/error.hpp"
#include "line_search.hpp"

namespace covary {
namespace {

constexpr std::size_t window = 5;  // iterations over which the function's decrease is judged
constexpr int most_changes = 50;   // of the objective within one iteration

double clock_seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

double largest(const Vector& g) { return g.size() == 0 ? 0.0 : g.cwiseAbs().maxCoeff(); }

double scale(double value) { return std::max(1.0, std::abs(value)); }

void require(bool holds, const char* option, double value, const char* rule) {
  if (!holds)
    throw InputError(fmt::format("LbfgsOptions::{} is {}; it must be {}", option, value, rule));
}

}  // namespace

void LbfgsOptions::check() const {
  require(memory >= 1, "memory", static_cast<double>(memory), "at least 1");
  for (std::size_t b = 0; b < blocks.size(); ++b)
    require(b == 0 ? blocks[b] == 0 : blocks[b] > blocks[b - 1], "blocks",
            static_cast<double>(blocks[b]), "zero at first and then rising");
  require(max_iterations >= 0, "max_iterations", static_cast<double>(max_iterations),
          "zero (evaluate only) or more");
  require(max_evaluations >= 1, "max_evaluations", static_cast<double>(max_evaluations),
          "at least 1, to evaluate the start");
  require(max_seconds > 0.0, "max_seconds", max_seconds, "positive");
  for (const auto& [name, value] : {std::pair{"gradient_tolerance", gradient_tolerance},
                                    {"function_tolerance", function_tolerance},
                                    {"relative_noise", relative_noise}})
    require(value >= 0.0 && value < 1.0, name, value, "at least 0 and below 1");
}

struct Lbfgs::Evaluation {
  bool good = false;
  double value = 0.0;
  Vector gradient;
};

Lbfgs::Lbfgs(Objective objective, Vector start, LbfgsOptions options)
    : objective_(std::move(objective)), options_(std::move(options)), began_(clock_seconds()) {
  options_.check();
  if (!start.allFinite()) {
    Index i = 0;
    while (std::isfinite(start[i])) ++i;
    throw InputError(
        fmt::format("the start has a non-finite value, {} at position {}", start[i], i));
  }
  state_.u = std::move(start);
  if (!evaluate_again())
    throw NumericalError(
        fmt::format("the objective cannot be evaluated at the start: {}; choose "
                    "another start, or look at the data it is computed from",
                    last_failure_));
  state_.initial_value = state_.value;
  test_convergence();
}

Lbfgs::Lbfgs(Objective objective, LbfgsState state, LbfgsOptions options)
    : objective_(std::move(objective)),
      options_(std::move(options)),
      state_(std::move(state)),
      seconds_before_(state_.seconds),
      began_(clock_seconds()) {
  options_.check();
  bool whole = state_.gradient.size() == state_.u.size() && state_.s.size() == state_.y.size() &&
               std::isfinite(state_.value) && state_.u.allFinite() && state_.gradient.allFinite();
  for (std::size_t i = 0; whole && i < state_.s.size(); ++i)
    whole = state_.s[i].size() == state_.u.size() && state_.y[i].size() == state_.u.size();
  if (!whole)
    throw InputError(
        fmt::format("the saved state of an optimiser with {} parameters is not whole; "
                    "start again from its point",
                    state_.u.size()));
  test_convergence();
}

double Lbfgs::seconds() const { return seconds_before_ + (clock_seconds() - began_); }

Lbfgs::Evaluation Lbfgs::evaluate(const Vector& u) {
  Evaluation result{false, 0.0, Vector::Zero(u.size())};
  ++state_.evaluations;
  last_failure_ = "it returned no value";
  try {
    if (const std::optional<double> value = objective_(u, &result.gradient)) {
      if (result.gradient.size() != u.size())
        throw InputError(
            fmt::format("the objective wrote a gradient of {} entries for {} parameters",
                        result.gradient.size(), u.size()));
      result.value = *value;
      result.good = std::isfinite(*value) && result.gradient.allFinite();
      last_failure_ = std::isfinite(*value) ? "its gradient has non-finite entries"
                                            : fmt::format("its value is {}", *value);
    }
  } catch (const NumericalError& e) {
    last_failure_ = e.what();
  }
  if (!result.good) ++state_.rejected_evaluations;
  if (options_.objective_changed && options_.objective_changed()) changed_ = true;
  return result;
}

// At the current point, until the objective holds still.
bool Lbfgs::evaluate_again() {
  for (int i = 0; i < most_changes; ++i) {
    changed_ = false;
    Evaluation e = evaluate(state_.u);
    if (!e.good && !changed_) return false;
    if (changed_) continue;
    state_.value = e.value;
    state_.gradient = std::move(e.gradient);
    state_.recent_values.clear();
    return true;
  }
  last_failure_ = fmt::format("it said that it had changed {} times in a row", most_changes);
  return false;
}

// γH0·d with γ = sᵀy/yᵀH0y of the last pair, block by block. Where a block has bent down γ is the
// ratio of the lengths of s and H0y, where it has not moved that of all. Without pairs no block has
// a step longer than a unit.
Vector Lbfgs::first_guess(Vector d) const {
  const bool paired = !state_.s.empty();
  Matrix r(d.size(), paired ? 2 : 1);
  r.col(0) = d;
  if (paired) r.col(1) = state_.y.back();
  if (options_.metric) r = options_.metric(state_.u, r);
  const auto scale_of = [&](Index first, Index n) {
    if (!paired)
      return options_.blocks.empty() ? 1.0 : std::min(1.0, 1.0 / r.col(0).segment(first, n).norm());
    const auto s = state_.s.back().segment(first, n), y = state_.y.back().segment(first, n);
    const auto Hy = r.col(1).segment(first, n);
    const double bend = s.dot(y);
    return bend > 0.0 ? bend / y.dot(Hy) : s.norm() / Hy.norm();
  };
  if (options_.blocks.empty()) return scale_of(0, d.size()) * r.col(0);
  const double of_all = scale_of(0, d.size());
  for (std::size_t b = 0; b < options_.blocks.size(); ++b) {
    const Index first = options_.blocks[b],
                end = b + 1 < options_.blocks.size() ? options_.blocks[b + 1] : d.size();
    const double own = scale_of(first, end - first);
    d.segment(first, end - first) =
        (std::isfinite(own) && own > 0.0 ? own : of_all) * r.col(0).segment(first, end - first);
  }
  return d;
}

// −H·g by the two-loop recursion (Nocedal & Wright, algorithm 7.4).
Vector Lbfgs::direction() const {
  Vector d = -state_.gradient;
  const std::size_t m = state_.s.size();
  if (m == 0) return first_guess(std::move(d));
  std::vector<double> alpha(m), rho(m);
  for (std::size_t i = m; i-- > 0;) {
    rho[i] = 1.0 / state_.s[i].dot(state_.y[i]);
    alpha[i] = rho[i] * state_.s[i].dot(d);
    d -= alpha[i] * state_.y[i];
  }
  d = first_guess(std::move(d));
  for (std::size_t i = 0; i < m; ++i) d += (alpha[i] - rho[i] * state_.y[i].dot(d)) * state_.s[i];
  return d;
}

// Only pairs with clearly positive curvature keep the approximation positive definite.
void Lbfgs::remember(const Vector& s, const Vector& y) {
  if (!(s.dot(y) > 1e-10 * s.norm() * y.norm())) return;
  state_.s.push_back(s);
  state_.y.push_back(y);
  while (static_cast<Index>(state_.s.size()) > options_.memory) {
    state_.s.erase(state_.s.begin());
    state_.y.erase(state_.y.begin());
  }
}

// Stop::running while no limit has been reached.
Stop Lbfgs::limit() const {
  if (options_.stop && options_.stop()) return Stop::caller;
  if (state_.iterations >= options_.max_iterations) return Stop::iterations;
  if (state_.evaluations >= options_.max_evaluations) return Stop::evaluations;
  if (seconds() >= options_.max_seconds) return Stop::seconds;
  return Stop::running;
}

bool Lbfgs::finish_at(Stop limit) {
  switch (limit) {
    case Stop::iterations:
      return finish(limit,
                    fmt::format("the limit of {} iterations was reached", options_.max_iterations));
    case Stop::evaluations:
      return finish(
          limit, fmt::format("the limit of {} evaluations was reached", options_.max_evaluations));
    case Stop::seconds:
      return finish(limit,
                    fmt::format("the limit of {} seconds was reached", options_.max_seconds));
    default:
      return finish(Stop::caller, "stopped by the caller");
  }
}

void Lbfgs::test_convergence() {
  const double norm = largest(state_.gradient), size = scale(state_.value);
  if (state_.value < -1e20) {
    finish(Stop::unbounded,
           fmt::format("the value fell to {:.2e}: it has no minimum", state_.value));
    return;
  }
  if (norm <= options_.gradient_tolerance * size) {
    finish(Stop::converged, fmt::format("the scaled gradient {:.2e} is within its tolerance {:.2e}",
                                        norm / size, options_.gradient_tolerance));
    return;
  }
  auto& recent = state_.recent_values;
  if (recent.size() <= window) return;
  const double fall = (recent.front() - recent.back()) / size;
  if (fall <= options_.function_tolerance)
    finish(Stop::converged,
           fmt::format("the last {} iterations lowered the value by {:.2e} of its size, within "
                       "the tolerance {:.2e}",
                       window, fall, options_.function_tolerance));
}

bool Lbfgs::finish(Stop why, std::string reason) {
  stop_ = why;
  reason_ = std::move(reason);
  state_.seconds = seconds();
  return false;
}

bool Lbfgs::step() {
  if (finished()) return false;
  if (const Stop reached = limit(); reached != Stop::running) return finish_at(reached);

  std::optional<LinePoint> next;
  for (int attempt = 0; !next; ++attempt) {
    Vector d = direction();
    double slope = d.dot(state_.gradient);
    if (!d.allFinite() || !(slope < -1e-10 * d.norm() * state_.gradient.norm())) {
      state_.s.clear();
      state_.y.clear();
      d = direction();
      slope = d.dot(state_.gradient);
    }
    // Without curvature the first trial moves u by at most one unit.
    const bool steepest = state_.s.empty();
    const double first = steepest ? std::min(1.0, 1.0 / d.norm()) : 1.0;
    const double noise = options_.relative_noise * scale(state_.value);

    LineSearch line{state_.value, slope, first, noise, {}, {}};
    line.evaluate = [&](double step) -> std::optional<LinePoint> {
      Vector u = state_.u + step * d;
      Evaluation e = evaluate(u);
      if (!e.good) return std::nullopt;
      const double slope_there = e.gradient.dot(d);
      return LinePoint{step, e.value, slope_there, std::move(u), std::move(e.gradient)};
    };
    line.give_up = [&] { return changed_ || limit() != Stop::running; };
    next = search(line);

    if (changed_) {
      next.reset();
      if (attempt == most_changes || !evaluate_again())
        return finish(
            Stop::stuck,
            "after the objective changed, the current point cannot be evaluated: " + last_failure_);
      continue;
    }
    if (next) break;
    if (const Stop reached = limit(); reached != Stop::running) return finish_at(reached);
    // Noise can be larger than announced; what is left to gain is then still negligible.
    const double expected = -0.5 * first * slope / scale(state_.value);
    if (expected <= 100.0 * options_.relative_noise)
      return finish(Stop::converged,
                    fmt::format("no lower point was found, and the decrease still to be expected "
                                "is only {:.2e} of the value",
                                expected));
    if (steepest)
      return finish(Stop::stuck,
                    fmt::format("no lower point was found along the gradient, whose norm is "
                                "{:.2e}: the gradient or the value is too inaccurate here",
                                largest(state_.gradient)));
    state_.s.clear();
    state_.y.clear();
  }

  remember(next->u - state_.u, next->gradient - state_.gradient);
  auto& recent = state_.recent_values;
  if (recent.empty()) recent.push_back(state_.value);
  state_.u = std::move(next->u);
  state_.gradient = std::move(next->gradient);
  state_.value = next->value;
  recent.push_back(state_.value);
  if (recent.size() > window + 1) recent.erase(recent.begin());
  ++state_.iterations;
  state_.seconds = seconds();
  test_convergence();
  if (options_.callback && !options_.callback(state_)) {
    stopped_by_caller_ = true;
    if (!finished()) finish_at(Stop::caller);
  }
  return true;
}

Summary Lbfgs::summary() const {
  Summary s;
  s.value = state_.value;
  s.initial_value = state_.initial_value;
  s.iterations = state_.iterations;
  s.evaluations = state_.evaluations;
  s.rejected_evaluations = state_.rejected_evaluations;
  s.converged = converged();
  s.stop = stop_;
  s.reason = finished() ? reason_ : "not finished";
  s.gradient_norm = largest(state_.gradient);
  s.seconds = state_.seconds;
  return s;
}

Minimum minimise(Lbfgs lbfgs) {
  std::vector<Summary::Point> trace;
  do {
    const LbfgsState& at = lbfgs.state();
    trace.push_back({at.iterations, at.value, largest(at.gradient), at.seconds});
  } while (lbfgs.step());
  Minimum minimum{lbfgs.state(), lbfgs.summary()};
  minimum.summary.trace = std::move(trace);
  return minimum;
}

Minimum minimise(const Objective& objective, const Vector& start, const LbfgsOptions& options) {
  return minimise(Lbfgs(objective, start, options));
}

}  // namespace covary
