#pragma once

#include <chrono>
#include <string>

#include "covary/training/state.hpp"

namespace covary::cli {

// While it lives, Ctrl-C (and SIGTERM) asks training to stop; a second one ends the process.
class Interruption {
 public:
  Interruption();
  ~Interruption();
  Interruption(const Interruption&) = delete;
  Interruption& operator=(const Interruption&) = delete;
  static bool requested();

 private:
  void (*old_interrupt_)(int);
  void (*old_terminate_)(int);
};

// Training as it goes, on standard error: a bar that is drawn over on a terminal, or a line for
// each iteration, or each move of Adam.
class Progress {
 public:
  enum class Kind { none, bar, lines };
  // Lines if they are asked for, the bar on a terminal unless all should be quiet.
  static Kind kind(bool verbose, bool quiet);
  // `shift` is added to −value: what makes it the objective in the units of the data.
  Progress(Kind kind, double gradient_tolerance, Index max_iterations, double shift);
  void show(const TrainingProgress& now);
  void clear();  // removes the bar

 private:
  void show_run(const TrainingProgress& now);
  void show_minibatches(const TrainingProgress& now);
  double fraction(const LbfgsState& run);  // of this part, guessed from the fall of the gradient
  bool is_time_to_draw();
  // `part` of the whole is done; `left`: seconds, or negative when nobody can say.
  void draw(double part, const std::string& text, double left);

  Kind kind_;
  double tolerance_;
  Index max_iterations_;
  double shift_;
  Index part_ = -1, last_move_ = 0;
  double first_norm_ = 0.0, least_norm_ = 0.0;
  bool drawn_ = false;
  std::chrono::steady_clock::time_point began_, next_;
};

}  // namespace covary::cli
