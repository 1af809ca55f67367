#pragma once

#include <string>
#include <string_view>

#include "covary/data/table.hpp"

namespace covary {

// NumPy's .npy format, versions 1 to 3, little-endian real types, C or Fortran order. One dimension
// is a column; beyond two, all but the first are flattened (in C order) into the columns.
Table parse_npy(std::string_view bytes, const std::string& name);

// Where the doubles of a two-dimensional C-order array lie in its file, for reading some rows of
// it.
struct NpyDoubles {
  Index offset, rows, cols;
};
// From the first bytes of the file (the header must be among them) and its size.
NpyDoubles npy_doubles(std::string_view head, std::size_t file_size, const std::string& name);
// The header of such an array, to be followed by its doubles. Its length is the same for all, so
// that the number of rows may be written last.
std::string npy_header(Index rows, Index cols);

}  // namespace covary
