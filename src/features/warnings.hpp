#pragma once

#include <string>
#include <vector>

#include "covary/features/features.hpp"

namespace covary {

// What is likely wrong with features at these values for rows X, in words, and what to do: an
// interval, box or measure that does not cover the rows, frequencies beyond what rows so far apart
// can show, eigenfunctions that add nothing. None for points.
std::vector<std::string> feature_warnings(const Features& features, const Kernel& kernel,
                                          ConstVector theta, ConstVector z, ConstRows X);

}  // namespace covary
