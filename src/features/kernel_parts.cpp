#include "features/stacked.hpp"

namespace covary {
namespace {

// Adds the parts of a kernel over these columns, whose parameters begin at `offset`; `term` is null
// at the top, where the terms of the sum are told apart.
void add_parts(const Kernel& kernel, const std::vector<Index>& columns, Index offset,
               const KernelNode* term, std::vector<KernelPart>& out) {
  const auto count = static_cast<Index>(columns.size());
  for (const auto& t : kernel.terms(count)) {
    if (t.node->is_white()) continue;
    const KernelNode* whole = term ? term : t.node.get();
    const auto own_columns = t.node->over_columns(count);
    if (own_columns.inner) {
      for (const auto& own : own_columns.columns) {
        std::vector<Index> chosen;
        for (const Index d : own) chosen.push_back(columns[static_cast<std::size_t>(d)]);
        add_parts(Kernel(own_columns.inner), chosen, offset + t.offset, whole, out);
      }
    } else {
      out.push_back({t.node, columns, offset + t.offset, whole});
    }
  }
}

std::vector<Index> all_columns(Index dims) {
  std::vector<Index> out;
  for (Index d = 0; d < dims; ++d) out.push_back(d);
  return out;
}

}  // namespace

std::vector<KernelPart> kernel_parts(const Kernel& kernel, Index dims) {
  kernel.node().check(dims);
  std::vector<KernelPart> out;
  add_parts(kernel, all_columns(dims), 0, nullptr, out);
  return out;
}

std::vector<KernelPart> kernel_factors(const Kernel& kernel, Index dims) {
  kernel.node().check(dims);
  std::vector<KernelPart> out;
  std::vector<KernelPtr> factors = kernel.node().factors();
  if (factors.empty()) factors = {kernel.pointer()};
  Index offset = 0;
  for (const KernelPtr& factor : factors) {
    KernelPart part{Kernel(factor), all_columns(dims), offset, kernel.pointer().get()};
    offset += factor->parameter_count(dims);
    const auto own = factor->over_columns(dims);
    if (own.columns.size() == 1) {
      part.kernel = Kernel(own.inner);
      part.columns = own.columns.front();
    }
    out.push_back(std::move(part));
  }
  return out;
}

}  // namespace covary
