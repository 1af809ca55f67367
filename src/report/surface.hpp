#pragma once

#include <string>

#include "covary/report/chart.hpp"

namespace covary {

// A probability over two inputs, as an image with axes.
struct Surface {
  std::string title, x_name, y_name;
  Vector x, y;  // rising
  Matrix p;     // p(i, j) at (x(i), y(j)), between 0 and 1
  // Rows marked as being of the class or not, and inducing inputs; any may be empty.
  RowMatrix yes, no, Z;
  std::string yes_name, no_name;  // for the legend
};

// With the contour at one half.
Figure surface_figure(const Surface& surface);

}  // namespace covary
