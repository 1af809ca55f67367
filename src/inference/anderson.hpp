#pragma once

#include <deque>

#include "covary/linalg/types.hpp"

namespace covary {

// Anderson acceleration of a fixed-point iteration x ← x + f(x) (Anderson 1965; Walker & Ni 2011):
// from the last steps, the point whose residual f would vanish if f were linear between them. It
// promises nothing by itself, so the caller keeps a measure of progress.
class Anderson {
 public:
  explicit Anderson(std::size_t depth) : depth_(depth) {}

  void add(Vector x, Vector f);
  void forget();
  bool ready() const { return x_.size() >= 2; }
  // Residuals are measured in units of 1/weight.
  Vector extrapolate(const Vector& weight) const;

 private:
  std::size_t depth_;
  std::deque<Vector> x_, f_;
};

}  // namespace covary
