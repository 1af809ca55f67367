#include <charconv>

#include "covary/features/stacked.hpp"

namespace covary {
namespace {

// Where a call such as se@0,2 or (se * se)@1 names its columns; npos where it does not.
std::size_t columns_at(const KernelNode& node, const std::string& text) {
  if (node.precedence() < 2) return std::string::npos;
  int depth = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    depth += text[i] == '(' ? 1 : text[i] == ')' ? -1 : 0;
    if (depth == 0 && text[i] == '@') return i;
  }
  return std::string::npos;
}

std::vector<Index> numbers(const std::string& text, std::size_t from) {
  std::vector<Index> out;
  const char *at = text.data() + from, *end = text.data() + text.size();
  while (at < end) {
    Index value = 0;
    at = std::from_chars(at, end, value).ptr + 1;  // over the comma
    out.push_back(value);
  }
  return out;
}

// Adds the parts of a kernel over these columns, whose parameters begin at `offset`; `term` is null
// at the top, where the terms of the sum are told apart.
void add_parts(const Kernel& kernel, const std::vector<Index>& columns, Index offset,
               const KernelNode* term, std::vector<KernelPart>& out) {
  const auto count = static_cast<Index>(columns.size());
  for (const auto& t : kernel.terms(count)) {
    if (t.node->is_white()) continue;
    const KernelNode* own = term ? term : t.node.get();
    const std::string text = t.node->print();
    const std::size_t at = columns_at(*t.node, text);
    if (at != std::string::npos) {
      std::vector<Index> chosen;
      for (const Index d : numbers(text, at + 1))
        chosen.push_back(columns[static_cast<std::size_t>(d)]);
      add_parts(text.substr(0, at), chosen, offset + t.offset, own, out);
    } else if (text.starts_with("additive(") && t.node->precedence() == 2) {
      const Kernel inner = text.substr(9, text.size() - 10);
      for (const Index d : columns) add_parts(inner, {d}, offset + t.offset, own, out);
    } else {
      out.push_back({t.node, columns, offset + t.offset, own});
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
  const std::string text = kernel.print();
  std::size_t from = 0;
  int depth = 0;
  Index offset = 0;
  for (std::size_t i = 0; i <= text.size(); ++i) {
    const char c = i < text.size() ? text[i] : '*';
    depth += c == '(' ? 1 : c == ')' ? -1 : 0;
    if (depth > 0 || c != '*') continue;
    const std::size_t end = i < text.size() ? i - 1 : i;  // before " * "
    const std::string own = text.substr(from, end - from);
    from = i + 2;
    if (own.find_first_not_of("0123456789.e+-") ==
        std::string::npos) {  // a number scales the whole
      return {{kernel, all_columns(dims), 0, kernel.pointer().get()}};
    }
    const Kernel factor = own;
    const std::size_t at = columns_at(factor.node(), own);
    const Index count = factor.parameter_count(dims);
    if (at == std::string::npos)
      out.push_back({factor, all_columns(dims), offset, kernel.pointer().get()});
    else
      out.push_back({own.substr(0, at), numbers(own, at + 1), offset, kernel.pointer().get()});
    offset += count;
  }
  return out;
}

}  // namespace covary
