#pragma once

#include <string>

#include "covary/linalg/types.hpp"

namespace covary::cli {

// What exact regression costs.
struct Cost {
  double bytes = 0.0;  // at its peak: the N×N arrays
  double flops = 0.0;  // of one evaluation with gradients
};
// Y: N×P, NaN where missing; each pattern of missing rows has its own covariance.
Cost exact_cost(const RowMatrix& Y, bool standard_errors);

// Bytes that this process may still ask for: the machine's, its container's and its own limit.
double available_memory();
double total_memory();
std::string in_gigabytes(double bytes);

// Throws Error "memory" when `what` needs more than there is, and says how many of the rows fit:
// memory grows with their square.
void require_memory(double bytes, Index rows, const std::string& what);

}  // namespace covary::cli
