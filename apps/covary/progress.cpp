#include "progress.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <csignal>
#include <cstdio>

#include "covary/models/progress_line.hpp"

namespace covary::cli {
namespace {

volatile std::sig_atomic_t interrupted = 0;

void on_interrupt(int signal) {
  interrupted = 1;
  std::signal(signal, SIG_DFL);  // the second one is not ours
}

double scaled_norm(const LbfgsState& run) {
  const double norm = run.gradient.size() ? run.gradient.cwiseAbs().maxCoeff() : 0.0;
  return norm / std::max(1.0, std::abs(run.value));
}

std::string duration(double seconds) {
  if (seconds < 100.0) return fmt::format("{:.1f} s", seconds);
  if (seconds < 6000.0) return fmt::format("{:.0f} min", seconds / 60.0);
  return fmt::format("{:.1f} h", seconds / 3600.0);
}

}  // namespace

Interruption::Interruption()
    : old_interrupt_(std::signal(SIGINT, on_interrupt)),
      old_terminate_(std::signal(SIGTERM, on_interrupt)) {
  if (old_interrupt_ == SIG_IGN) std::signal(SIGINT, SIG_IGN);  // run in the background
}

Interruption::~Interruption() {
  std::signal(SIGINT, old_interrupt_);
  std::signal(SIGTERM, old_terminate_);
}

bool Interruption::requested() { return interrupted != 0; }

Progress::Kind Progress::kind(bool verbose, bool quiet) {
  if (verbose) return Kind::lines;
  return !quiet && isatty(2) ? Kind::bar : Kind::none;
}

Progress::Progress(Kind kind, double gradient_tolerance, Index max_iterations, double shift)
    : kind_(kind),
      tolerance_(gradient_tolerance),
      max_iterations_(max_iterations),
      shift_(shift),
      began_(std::chrono::steady_clock::now()),
      next_(began_) {}

double Progress::fraction(const LbfgsState& run) {
  const double norm = std::max(scaled_norm(run), 1e-300);
  least_norm_ = std::min(least_norm_, norm);
  const double whole = std::log(std::max(first_norm_ / tolerance_, 1.0 + 1e-6));
  const double by_gradient = std::log(first_norm_ / least_norm_) / whole;
  const double by_count = static_cast<double>(run.iterations) /
                          static_cast<double>(std::max<Index>(1, max_iterations_));
  return std::clamp(std::max(by_gradient, by_count), 0.0, 1.0);
}

void Progress::show(const TrainingProgress& now) {
  if (kind_ == Kind::none) return;
  if (now.run) show_run(now);
  if (now.adam) show_minibatches(now);
}

void Progress::show_run(const TrainingProgress& now) {
  const LbfgsState& run = *now.run;
  if (now.part != part_) {
    part_ = now.part;
    first_norm_ = least_norm_ = std::max(scaled_norm(run), 1e-300);
  }
  if (now.over) return;  // this iteration was shown
  if (kind_ == Kind::lines) {
    fmt::print(stderr, "{}\n", progress_line(now, shift_));
    return;
  }
  const double norm = run.gradient.size() ? run.gradient.cwiseAbs().maxCoeff() : 0.0;
  const double part = fraction(run);
  if (!is_time_to_draw()) return;
  const double starts = static_cast<double>(now.starts), start = static_cast<double>(now.start);
  draw((start + part) / starts,
       fmt::format("{}iteration {}  objective {:.4f}  gradient {:.1e}",
                   now.starts > 1 ? fmt::format("start {}/{}  ", now.start + 1, now.starts) : "",
                   run.iterations, shift_ - run.value, norm),
       part > 0.05 ? run.seconds / part * (starts - start) - run.seconds : -1.0);
}

void Progress::show_minibatches(const TrainingProgress& now) {
  const bool moved = now.adam->steps != last_move_;
  last_move_ = now.adam->steps;
  if (kind_ == Kind::bar && !is_time_to_draw()) return;
  const double objective = shift_ - now.adam->mean;
  if (kind_ == Kind::lines) {
    if (moved) fmt::print(stderr, "{}\n", progress_line(now, shift_));
    return;
  }
  const double starts = static_cast<double>(now.starts), start = static_cast<double>(now.start);
  const double part =
      (start + static_cast<double>(now.step) / static_cast<double>(now.steps)) / starts;
  draw(part,
       fmt::format("{}step {} of {}{}",
                   now.starts > 1 ? fmt::format("start {}/{}  ", now.start + 1, now.starts) : "",
                   now.step, now.steps,
                   now.adam->steps ? fmt::format("  objective {:.4f}", objective) : ""),
       now.seconds / part - now.seconds);
}

bool Progress::is_time_to_draw() {
  const auto now = std::chrono::steady_clock::now();
  if (now < next_) return false;
  next_ = now + std::chrono::milliseconds(100);
  return true;
}

void Progress::draw(double part, const std::string& text, double left) {
  const auto now = std::chrono::steady_clock::now();
  const std::string filled(static_cast<std::size_t>(20.0 * part), '#');
  fmt::print(stderr, "\r\033[K[{:<20}] {}  {}  {}", filled, text,
             duration(std::chrono::duration<double>(now - began_).count()),
             left >= 0.0 ? fmt::format("about {} left", duration(left)) : "");
  std::fflush(stderr);
  drawn_ = true;
}

void Progress::clear() {
  if (!drawn_) return;
  fmt::print(stderr, "\r\033[K");
  std::fflush(stderr);
  drawn_ = false;
}

}  // namespace covary::cli
