#pragma once

#include <optional>
#include <string>
#include <vector>

#include "covary/linalg/types.hpp"

namespace covary {

// Why training stopped; Summary::reason says it in a sentence.
enum class Stop {
  converged,    // by its gradient or its decrease, or because no more can be gained
  iterations,   // a limit was reached
  evaluations,  // likewise
  seconds,      // likewise
  caller,       // somebody asked for it
  steps,        // all steps of minibatches were made
  diverged,     // taken back too often
  stuck,        // no way down: the gradient or the value is too inaccurate
  unbounded,    // the value has no minimum
  evaluated,    // nothing was to be trained: max_iterations is zero, or no parameter is free
  running       // not finished
};
std::string print(Stop stop);
// The reverse; InputError for another word.
Stop parse_stop(const std::string& word);

// What a fit did: why it stopped, what it reached, what it cost. Optimisers fill in what they know;
// the model adds the objective's name, the evidence bracket, the jitter and the route.
struct Summary {
  struct Start {
    Index index = 0;
    std::optional<double> value;  // nothing when the start failed
    Index iterations = 0;
    bool converged = false;
    std::string reason;
  };
  struct Point {
    Index iteration = 0;
    double value = 0.0;
    double gradient_norm = 0.0;
    double seconds = 0.0;
  };

  std::string objective = "objective";
  double value = 0.0;
  double initial_value = 0.0;
  std::optional<double> upper_bound;  // of the evidence, where one is known
  Index iterations = 0;
  Index evaluations = 0;
  Index rejected_evaluations = 0;
  bool converged = false;
  Stop stop = Stop::running;
  std::string reason;
  double gradient_norm = 0.0;  // ‖∂/∂u‖∞ at the end
  double seconds = 0.0;
  double jitter = 0.0;
  std::string route;
  std::vector<std::string> warnings;
  Index best_start = 0;
  std::vector<Start> starts;  // one row for each start, when there were several
  std::vector<Point> trace;   // of the best start

  // Optimisers minimise −L in the units that the model sees; models report L in those of the data:
  // the signs of all values are turned and the log Jacobian of the scaling is taken off.
  void to_log_density(double log_jacobian);
  // Of a run that went on where `before` ended, with the same objective: counts, trace and initial
  // value become those of both.
  void go_on_from(const Summary& before);

  std::string brief() const;  // one line
  std::string full() const;   // the brief line, then a table
};

}  // namespace covary
