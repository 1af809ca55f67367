#pragma once

#include <utility>

#include "covary/kernels/node.hpp"

namespace covary {

// c·k taken apart as (c, k); (1, k) for a kernel that is not scaled. Numbers in a product are
// gathered in front of it, as the parser does, so that one kernel has one printed form.
std::pair<double, KernelPtr> split_scale(const KernelPtr& k);

}  // namespace covary
