#pragma once

#include <string>
#include <vector>

#include "covary/linalg/types.hpp"

namespace covary {

// What Features::warnings() of several kinds have alike: they add their lines to `out`.

// Rows outside low … high in some column.
Index rows_outside(ConstRows X, const Vector& low, const Vector& high);
// Rows beyond the interval of one column that the features cover; `how` to widen it.
void warn_of_interval(double a, double b, ConstRows X, const std::string& how,
                      std::vector<std::string>& out);
// Frequencies, the largest of each column, beyond what rows so far apart tell from lower ones.
void warn_of_nyquist(const Vector& largest, ConstRows X, std::vector<std::string>& out);
// Some thousand rows spread evenly, and those at the ends of each column.
std::vector<Index> rows_to_ask(ConstRows X);

}  // namespace covary
