#pragma once

#include <limits>

#include "covary/error.hpp"

namespace covary {

// What was held while the rest was trained is chosen again at the parameters found, and taken back
// if that lowers the value or choose() is false. A value that cannot be computed is the lowest.
// Returns whether the choice is kept.
template <class Value, class Choose, class Undo>
bool choose_again(const Value& value, const Choose& choose, const Undo& undo) {
  const auto value_here = [&] {
    try {
      return value();
    } catch (const NumericalError&) {
      return -std::numeric_limits<double>::infinity();
    }
  };
  const double before = value_here();
  if (choose() && !(value_here() < before)) return true;
  undo();
  return false;
}

}  // namespace covary
