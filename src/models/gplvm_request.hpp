#pragma once

#include "covary/models/gplvm.hpp"
#include "covary/models/request.hpp"

namespace covary {

// What a request says of every GP-LVM, but for its dimensions.
GplvmOptions gplvm_options(const FitRequest& r);
// Of --dynamics: as it was given, or one that suits the columns of times.
Kernel dynamics_kernel(const FitRequest& r);

}  // namespace covary
