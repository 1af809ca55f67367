#pragma once

#include <string>
#include <string_view>

#include "covary/data/table.hpp"

namespace covary {

// The IDX format of the MNIST files: bytes 0, 0, type, number of dimensions; one big-endian uint32
// a dimension; then the values, big-endian. An item (an image) is a row, flattened.
Table parse_idx(std::string_view bytes, const std::string& name);

}  // namespace covary
