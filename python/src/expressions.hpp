#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/variant.h>

#include <string>
#include <variant>

#include "covary/kernels/kernel.hpp"
#include "covary/kernels/mean.hpp"

namespace covary::python {

// An expression may stand wherever a kernel or a mean may. (nanobind's implicit conversions would
// lose the message of a mistake in it.)
using KernelLike = std::variant<std::string, Kernel>;
using MeanLike = std::variant<std::string, Mean>;

inline Kernel to_kernel(const KernelLike& k) {
  return std::visit([](const auto& v) { return Kernel(v); }, k);
}
inline Mean to_mean(const MeanLike& m) {
  return std::visit([](const auto& v) { return Mean(v); }, m);
}

}  // namespace covary::python
