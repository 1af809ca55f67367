#include "covary/kernels/kernel.hpp"

#include <fmt/format.h>

#include "covary/error.hpp"
#include "covary/kernels/expression.hpp"

namespace covary {

Kernel::Kernel(const std::string& expression) : Kernel(parse_kernel(expression)) {}

Parameters Kernel::parameters(Index dims) const { return parameters(DataScale::unit(dims)); }

Parameters Kernel::parameters(const DataScale& scale, const std::string& path) const {
  node_->check(scale.dims());
  Parameters out;
  node_->declare(out, path, scale);
  return out;
}

std::vector<Kernel::Term> Kernel::terms(Index dims) const {
  const auto parts = node_->terms();
  if (parts.empty()) return {{node_, 0, "kernel"}};
  std::vector<Term> out;
  Index offset = 0;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    out.push_back({parts[i], offset, fmt::format("kernel.{}", i)});
    offset += parts[i]->parameter_count(dims);
  }
  return out;
}

}  // namespace covary
