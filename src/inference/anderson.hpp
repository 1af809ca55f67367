#pragma once

#include <deque>

#include "covary/linalg/types.hpp"

namespace covary {

// Anderson's acceleration of a fixed-point iteration s → s + r(s): the step that would take the
// residual nearest to zero if it were linear on the span of the last few (Walker & Ni 2011).
class Anderson {
 public:
  explicit Anderson(std::size_t depth) : depth_(depth) {}

  // The next s. The norm is that of weights·r. Without history it is s + r.
  Vector next(const Vector& s, const Vector& r, const Vector& weights);
  void restart();
  bool has_history() const { return !s_steps_.empty(); }

 private:
  std::size_t depth_;
  std::deque<Vector> s_steps_, r_steps_;  // differences of successive arguments
  Vector s_, r_;
};

}  // namespace covary
