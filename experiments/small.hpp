#pragma once

#include <string>

#include "covary/data/table.hpp"

namespace covary::experiments {

// The small form of an experiment (`--small`) runs all of it on few rows, from few starts, for few
// iterations. It shows that the experiment works and judges no claim.
bool is_small();

// The experiment's own number, or in the small form the other.
Index few(Index own, Index small);

// The form of the run under way.
class Form {
 public:
  explicit Form(bool small);
  ~Form();
  Form(const Form&) = delete;
  Form& operator=(const Form&) = delete;
};

// A table of a public data set: find_data() has the places. In the small form its first rows, or
// where there is no such file generated numbers of the same columns.
Table read_data(const std::string& path);

}  // namespace covary::experiments
