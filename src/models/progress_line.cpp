#include "covary/models/progress_line.hpp"

#include <fmt/format.h>

namespace covary {

std::string progress_line(const TrainingProgress& now, double shift) {
  if (now.adam)
    return fmt::format("step {} of {} objective {:.6f} jitter {:.1e} seconds {:.3f}", now.step,
                       now.steps, shift - now.adam->mean, now.jitter.added, now.seconds);
  const LbfgsState& run = *now.run;
  const double norm = run.gradient.size() ? run.gradient.cwiseAbs().maxCoeff() : 0.0;
  return fmt::format(
      "start {} iteration {} objective {:.6f} gradient {:.2e} evaluations {} jitter {:.1e} "
      "seconds {:.3f}",
      now.start, run.iterations, shift - run.value, norm, now.evaluations, now.jitter.added,
      run.seconds);
}

}  // namespace covary
