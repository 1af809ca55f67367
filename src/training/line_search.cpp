#include "line_search.hpp"

#include <algorithm>
#include <cmath>

namespace covary {
namespace {

constexpr double decrease = 1e-4;  // Nocedal & Wright's c₁ and c₂ for quasi-Newton directions
constexpr double curvature = 0.9;
constexpr int trials = 25;
constexpr int few_trials = 5;

// An end of the bracket, without the vectors.
struct End {
  double step, value, slope;
};

// The minimiser of the cubic through two values and slopes (Nocedal & Wright, eq. 3.59), kept a
// tenth of the bracket away from its ends.
double cubic_minimiser(const End& a, const End& b) {
  const double width = b.step - a.step;
  const double d1 = a.slope + b.slope - 3.0 * (b.value - a.value) / width;
  const double d2 = std::sqrt(std::max(0.0, d1 * d1 - a.slope * b.slope));
  const double step = b.step - width * (b.slope + d2 - d1) / (b.slope - a.slope + 2.0 * d2);
  if (!std::isfinite(step)) return 0.5 * (a.step + b.step);
  return std::clamp(step, a.step + 0.1 * width, b.step - 0.1 * width);
}

// Where the secant of the slopes reaches zero, two to ten times as far as the last step.
double extrapolate(const End& before, const End& last) {
  const double bend = (last.slope - before.slope) / (last.step - before.step);
  const double step = bend > 0.0 ? last.step - last.slope / bend : 10.0 * last.step;
  return std::clamp(step, 2.0 * last.step, 10.0 * last.step);
}

}  // namespace

// The bracket is that of Hager & Zhang (SIAM J. Optim. 16, 2005): at its lower end φ is not above
// φ(0) + noise and falls; at its upper end φ rises, is too high, or cannot be evaluated. Such a
// bracket holds a local minimum even when values no longer tell points apart.
std::optional<LinePoint> search(const LineSearch& line) {
  End lower{0.0, line.value, line.slope}, before = lower;
  std::optional<End> upper;
  bool upper_failed = false;
  std::optional<LinePoint> best;
  double step = line.first_step;
  for (int trial = 0; trial < trials && !line.give_up(); ++trial) {
    std::optional<LinePoint> point = line.evaluate(step);
    if (!point) {
      upper = End{step, 0.0, 0.0};
      upper_failed = true;
    } else {
      const End end{point->step, point->value, point->slope};
      const bool tied = end.value <= line.value + line.noise;
      const bool low = end.value <= line.value + decrease * step * line.slope || tied;
      if (low && std::abs(end.slope) <= -curvature * line.slope) return point;
      if (end.value < (best ? best->value : line.value)) best = std::move(point);
      if (end.slope >= 0.0 || !tied) {
        upper = end;
        upper_failed = false;
      } else {
        before = lower;
        lower = end;
      }
    }
    // Where all differences of values are rounding, slopes have a few more trials to tell.
    if (upper && trial >= few_trials && -lower.slope * (upper->step - lower.step) <= line.noise)
      break;
    if (!upper) {
      step = extrapolate(before, lower);
    } else if (upper_failed) {
      // A decrease next to a region that fails is taken at once: the next direction knows more.
      if (best && best->value <= line.value + decrease * best->step * line.slope) return best;
      step = lower.step + 0.2 * (upper->step - lower.step);
    } else if (trial % 3 == 2) {
      step =
          0.5 * (lower.step + upper->step);  // so that the bracket shrinks whatever the cubic says
    } else {
      step = cubic_minimiser(lower, *upper);
    }
  }
  return best;
}

}  // namespace covary
