#pragma once

#include <string>
#include <string_view>

#include "covary/data/table.hpp"

namespace covary {

// NumPy's .npy format, versions 1 to 3, little-endian real types, C or Fortran order. One dimension
// is a column; beyond two, all but the first are flattened (in C order) into the columns.
Table parse_npy(std::string_view bytes, const std::string& name);

}  // namespace covary
