#pragma once

#include <string>

#include "covary/statistics/rows.hpp"

namespace covary::cli {

// What a regression costs.
struct Cost {
  double bytes = 0.0;  // at its peak, besides the data
  double flops = 0.0;  // of one evaluation with gradients
};
// Y: N×P, NaN where missing; each pattern of missing rows has its own covariance.
Cost exact_cost(const RowMatrix& Y, bool standard_errors);
// With M inducing variables: 4NM² by the safe route, and one statistic more for each further
// pattern.
Cost sparse_cost(const RowMatrix& Y, Index M);
// What CGLB's conjugate gradients add to an evaluation, if they take twenty steps.
double cglb_flops(Index rows, Index dims, Index outputs, Index M);
// The same of rows that stay in a file: with the sample that is kept, and what is made of it.
Cost streaming_cost(const RowSource& rows, Index M);

// Bytes that this process may still ask for: the machine's, its container's and its own limit.
double available_memory();
double total_memory();
std::string in_gigabytes(double bytes);

// Throws Error "memory" when `what` needs more than there is. An exact model's memory grows with
// the square of its rows: it says how many would fit, and that a sparse model would.
void require_memory(double bytes, Index rows, const std::string& what, bool exact = true);

}  // namespace covary::cli
