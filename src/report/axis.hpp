#pragma once

#include <string>
#include <vector>

#include "covary/linalg/types.hpp"

namespace covary {

struct Ticks {
  std::vector<double> at;
  std::vector<std::string> labels;
};

// About `count` round values (1, 2 or 5 times a power of ten) in [low, high], low < high, with just
// the digits that tell them apart.
Ticks nice_ticks(double low, double high, int count);

// The same of days since 1970-01-01: the beginnings of years, months, days or hours.
Ticks date_ticks(double low, double high, int count);

// The values that an axis has to hold. Numbers that are not finite, or beyond ±1e300, do not count
// and are not drawn.
class Range {
 public:
  static bool drawable(double v);
  void include(double v);
  void include(ConstVector v);
  bool empty() const { return low_ > high_; }
  double low() const { return low_; }
  double high() const { return high_; }
  // Never of zero width: nothing becomes [0, 1], and what is constant up to rounding gets room on
  // either side. `margin` is the fraction added at each end.
  Range padded(double margin) const;

 private:
  double low_ = 1e300, high_ = -1e300;
};

// A map from values to pixels, `from` at the low end and `to` at the high one.
class Axis {
 public:
  // Logarithmic axes span whole powers of ten; the range is that of positive values.
  Axis(const Range& range, double from, double to, bool logarithmic);

  bool drawable(double v) const { return Range::drawable(v) && (!logarithmic_ || v > 0.0); }
  // Of a drawable value; what lies far outside stays within some thousands of pixels.
  double pixel(double v) const;
  double low() const { return low_; }
  double high() const { return high_; }
  Ticks ticks(int count) const;

 private:
  double low_, high_;  // values, or their log10
  double from_, to_;
  bool logarithmic_;
};

}  // namespace covary
