#pragma once

#include <vector>

#include "covary/linalg/types.hpp"

namespace covary {

// A column that is a linear combination of columns before it.
struct DependentColumn {
  Index column;
  std::vector<Index> of;  // those that take part; empty for a column of zeros
};

// The columns of A that add nothing to the space of those before them: what remains of such a
// column is below `tolerance` of its length. By Gram–Schmidt, done twice, so that the condition is
// not squared.
std::vector<DependentColumn> dependent_columns(ConstMatrix A, double tolerance = 1e-9);

}  // namespace covary
