#pragma once

#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "covary/training/objective.hpp"
#include "covary/training/summary.hpp"

namespace covary {

// Everything the next iteration depends on. Saved and given back to Lbfgs, it continues with the
// same bits as if the run had never stopped.
struct LbfgsState {
  Vector u;  // the iterate: the best point so far, up to the rounding of the objective
  double value = 0.0;
  Vector gradient;
  // The curvature pairs s = u₊ − u and y = g₊ − g, oldest first.
  std::vector<Vector> s, y;
  // The values at the last iterations, oldest first, for the test of the function's decrease.
  std::vector<double> recent_values;
  double initial_value = 0.0;
  Index iterations = 0;
  Index evaluations = 0;           // all of them, with the rejected ones
  Index rejected_evaluations = 0;  // those that failed
  double seconds = 0.0;            // spent so far; only the time limit depends on it
};

struct LbfgsOptions {
  // Curvature pairs kept. More than there are parameters makes a badly scaled problem quick (ten
  // times fewer iterations on a quadratic of condition 1e8), and costs nothing beside an
  // evaluation.
  Index memory = 20;

  // Limits of the whole run, resumed parts included. Reaching one is not convergence.
  // max_iterations = 0 only evaluates the start.
  Index max_iterations = 1000;
  Index max_evaluations = std::numeric_limits<Index>::max();
  double max_seconds = std::numeric_limits<double>::infinity();

  // Converged when ‖g‖∞ ≤ gradient_tolerance · max(1, |f|). An evidence grows with the number of
  // rows, and so do its gradient and the rounding in both: hence the scale.
  double gradient_tolerance = 1e-6;
  // Converged when the last five iterations together lowered f by no more than
  // function_tolerance · max(1, |f|).
  double function_tolerance = 1e-10;
  // Differences of f below relative_noise · max(1, |f|) are taken for rounding: the line search
  // then judges by the slope alone (the approximate Wolfe condition of Hager & Zhang).
  double relative_noise = 1e-9;

  // What is known of the curvature beforehand: the columns of H0(u)·r for an inverse Hessian H0
  // that may change slowly with u, symmetric and positive definite; empty: the identity. Pairs
  // correct it.
  std::function<Matrix(const Vector& u, const Matrix& r)> metric = nullptr;
  // The first entries of blocks of u that are in units of their own: the last pair scales H0 in
  // each by itself. Empty: one block.
  std::vector<Index> blocks = {};

  // Called after every iteration; false stops the run, which keeps the point it has reached.
  std::function<bool(const LbfgsState&)> callback = nullptr;
  // Asked between evaluations, for those who cannot wait for the end of an iteration; true stops
  // the run at the last iteration's point.
  std::function<bool()> stop = nullptr;
  // Asked after every evaluation whether the objective itself has changed since it was last asked
  // (the jitter rose). If so the current point is evaluated again and the iteration begins anew.
  // The curvature pairs are kept: each was measured within one objective, and jitter hardly bends
  // it.
  std::function<bool()> objective_changed = nullptr;

  // Throws InputError naming the option that makes no sense.
  void check() const;
};

// Limited-memory BFGS (Nocedal, Math. Comp. 35, 1980; Nocedal & Wright, section 7.2) with a line
// search that bears failed evaluations and rounding.
class Lbfgs {
 public:
  // Evaluates the start. Throws NumericalError when that fails.
  Lbfgs(Objective objective, Vector start, LbfgsOptions options = {});
  // Continues a saved run; evaluates nothing.
  Lbfgs(Objective objective, LbfgsState state, LbfgsOptions options = {});

  // Makes one iteration; false when none was made because the run is finished. A run may be
  // finished before its first iteration.
  bool step();

  const LbfgsState& state() const { return state_; }
  bool finished() const { return stop_ != Stop::running; }
  bool converged() const { return stop_ == Stop::converged; }
  bool stopped_by_caller() const { return stopped_by_caller_ || stop_ == Stop::caller; }
  Stop why_stopped() const { return stop_; }
  const std::string& reason() const { return reason_; }  // why it finished, a sentence
  Summary summary() const;                               // of the run so far; no trace

 private:
  struct Evaluation;
  Evaluation evaluate(const Vector& u);
  bool evaluate_again();
  Vector direction() const;
  Vector first_guess(Vector d) const;
  void remember(const Vector& s, const Vector& y);
  Stop limit() const;
  bool finish_at(Stop limit);
  void test_convergence();
  bool finish(Stop why, std::string reason);
  double seconds() const;

  Objective objective_;
  LbfgsOptions options_;
  LbfgsState state_;
  Stop stop_ = Stop::running;
  bool stopped_by_caller_ = false;  // by the callback, also where it had finished by itself
  bool changed_ = false;
  std::string reason_;
  std::string last_failure_;
  double seconds_before_ = 0.0;  // of the parts of the run before this one
  double began_ = 0.0;           // the clock when this one began
};

// The end of a run: the state holds the point, its value and its gradient.
struct Minimum {
  LbfgsState state;
  Summary summary;
};

// Runs to the end and records the trace.
Minimum minimise(const Objective& objective, const Vector& start, const LbfgsOptions& options = {});
Minimum minimise(Lbfgs lbfgs);

}  // namespace covary
