#pragma once

#include <string>

#include "covary/linalg/types.hpp"
#include "report/axis.hpp"

namespace covary {

// A colour of the scale from dark blue (0) over teal to yellow (1), whose lightness rises evenly,
// so that it reads the same in grey and to the colour-blind.
std::string colour_at(double share);

// Coloured cells: values(i, j) between x(j) and x(j + 1), y(i) and y(i + 1), in pixels. What is not
// finite is left empty. One path a colour, made of runs along the rows: small even for large
// images.
std::string image_cells(ConstMatrix values, const Range& range, ConstVector x, ConstVector y);

// The scale of the colours of a range, from top to bottom, with its ticks.
std::string colour_scale(const Range& range, double left, double top, double height);

}  // namespace covary
