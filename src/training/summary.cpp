#include "covary/training/summary.hpp"

#include <fmt/format.h>

#include <iterator>
#include <utility>

#include "covary/error.hpp"

namespace covary {
namespace {

constexpr const char* names[] = {"converged", "iterations", "evaluations", "seconds",
                                 "caller",    "steps",      "diverged",    "stuck",
                                 "unbounded", "evaluated",  "running"};

void row(std::string& text, const char* name, const std::string& value) {
  fmt::format_to(std::back_inserter(text), "  {:<26}{}\n", name, value);
}

std::string number(double x) { return fmt::format("{:.10g}", x); }

}  // namespace

std::string print(Stop stop) { return names[static_cast<std::size_t>(stop)]; }

Stop parse_stop(const std::string& word) {
  for (std::size_t i = 0; i < std::size(names); ++i)
    if (word == names[i]) return static_cast<Stop>(i);
  throw InputError(fmt::format("unknown reason for stopping '{}'", word));
}

void Summary::to_log_density(double log_jacobian) {
  const auto turn = [&](double& v) { v = -(v + log_jacobian); };
  turn(value);
  turn(initial_value);
  for (Start& s : starts)
    if (s.value) turn(*s.value);
  for (Point& p : trace) turn(p.value);
}

void Summary::go_on_from(const Summary& before) {
  std::vector<Point> all = before.trace;
  const double began = all.empty() ? 0.0 : all.back().seconds;
  // The first point of this run is the last of that one.
  for (std::size_t i = all.empty() ? 0 : 1; i < trace.size(); ++i)
    all.push_back({trace[i].iteration + before.iterations, trace[i].value, trace[i].gradient_norm,
                   trace[i].seconds + began});
  trace = std::move(all);
  initial_value = before.initial_value;
  iterations += before.iterations;
  evaluations += before.evaluations;
  rejected_evaluations += before.rejected_evaluations;
}

std::string Summary::brief() const {
  return fmt::format("{}: {} = {} after {} iterations, {} evaluations, {:.3g} s: {}",
                     converged ? "converged" : "not converged", objective, number(value),
                     iterations, evaluations, seconds, reason);
}

std::string Summary::full() const {
  std::string text = brief() + "\n";
  row(text, objective.c_str(), number(value));
  row(text, "  at the start", number(initial_value));
  if (upper_bound) row(text, "upper bound", number(*upper_bound));
  row(text, "iterations", fmt::format("{}", iterations));
  row(text, "evaluations", fmt::format("{} ({} rejected)", evaluations, rejected_evaluations));
  row(text, "gradient norm", fmt::format("{:.3e}", gradient_norm));
  row(text, "converged", converged ? "yes" : "no");
  row(text, "reason", reason);
  row(text, "seconds", fmt::format("{:.3g}", seconds));
  row(text, "jitter", fmt::format("{:.3g}", jitter));
  if (!route.empty()) row(text, "route", route);
  for (const std::string& w : warnings) row(text, "warning", w);
  const auto out = std::back_inserter(text);
  if (!starts.empty()) {
    fmt::format_to(out, "\n  {:>5}  {:>18}  {:>10}  {}\n", "start", "value", "iterations",
                   "reason");
    for (const Start& s : starts)
      fmt::format_to(out, "{} {:>5}  {:>18}  {:>10}  {}\n", s.index == best_start ? "*" : " ",
                     s.index, s.value ? number(*s.value) : "failed", s.iterations, s.reason);
  }
  if (!trace.empty()) {
    fmt::format_to(out, "\n  {:>9}  {:>18}  {:>13}  {:>9}\n", "iteration", "value", "gradient norm",
                   "seconds");
    for (const Point& p : trace)
      fmt::format_to(out, "  {:>9}  {:>18}  {:>13.3e}  {:>9.3g}\n", p.iteration, number(p.value),
                     p.gradient_norm, p.seconds);
  }
  return text;
}

}  // namespace covary
