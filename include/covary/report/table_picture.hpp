#pragma once

#include <string>
#include <vector>

#include "covary/report/chart.hpp"

namespace covary {

// A table of numbers with a name for each column, or an image without names.
struct NumberTable {
  std::string name;
  std::vector<std::string> columns;
  Matrix values;
};

// Pictures of tables:
// - without names, or symmetric with as many rows as names: an image;
// - a first column that never falls: the others as lines against it;
// - two columns otherwise: points; more: lines against the number of the row;
// - "sd" after "mean", "b sd" after "b" or "b mean": a band of two standard deviations around it;
// - a table called "data" with the first column's name of the table before: points in its picture;
// - after two columns that are points, one called "inducing inputs": points beside them.
std::vector<Figure> table_pictures(const std::vector<NumberTable>& tables);

}  // namespace covary
