#pragma once

#include <string>

#include "covary/linalg/types.hpp"

namespace covary {

// Bytes that this process may still ask for: the machine's, its container's and its own limit.
double available_memory();
double total_memory();
namespace memory {
std::string in_gigabytes(double bytes);  // "1.2 GB"
}

// Throws Error "memory" when `what`, whose memory grows with the square of its rows, needs more
// than there is.
void require_memory(double bytes, Index rows, const std::string& what);

}  // namespace covary
