#pragma once

#include <string>
#include <vector>

#include "covary/report/chart.hpp"

namespace covary {

// A share over two inputs, such as a probability, as an image with axes.
struct Surface {
  // Rows of one kind, with what the legend says of them and the class of their look.
  struct Marks {
    RowMatrix rows;
    std::string look, name;
  };
  std::string title, x_name, y_name;
  Vector x, y;            // rising
  Matrix p;               // p(i, j) at (x(i), y(j)), between 0 and 1
  std::string half = {};  // what the contour at one half is; without a name there is none
  std::vector<Marks> marks = {};
  RowMatrix Z = {};  // inducing inputs
};

Figure surface_figure(const Surface& surface);

}  // namespace covary
