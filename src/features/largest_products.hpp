#pragma once

#include <functional>

#include "covary/linalg/types.hpp"

namespace covary {

// Of D lists that fall, the M combinations of one entry each with the largest products, largest
// first; equal ones by total degree, then in the order of the columns. log_step(d, i) is the
// logarithm of entry i + 1 of list d over entry i, −∞ where the list ends.
Eigen::MatrixX<Index> largest_products(Index D, Index M,
                                       const std::function<double(Index d, Index i)>& log_step);

}  // namespace covary
