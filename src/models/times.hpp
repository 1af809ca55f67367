#pragma once

#include <string>
#include <vector>

#include "covary/kernels/kernel.hpp"

namespace covary {

// The times of a dynamical prior. Rows of a sequence that have the same time make its covariance
// singular, unless the kernel has white noise, which each row has to itself: then they are
// repetitions, and a warning. InputError without, or where all times are the same. Their order does
// not matter to the prior, but times that fall look like a sequence whose beginning is not told:
// a warning. `sequences`: first rows, or none.
void check_times(const RowMatrix& times, const std::vector<Index>& sequences, const Kernel& kernel,
                 std::vector<std::string>& warnings);

}  // namespace covary
