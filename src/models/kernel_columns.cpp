// Kernels on columns by name: se@area becomes se@2, and lowrank(1)@district the indicators of its
// values.
#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <optional>

#include "covary/error.hpp"
#include "covary/models/model_data.hpp"
#include "covary/parameters/suggest.hpp"
#include "data/cells.hpp"

namespace covary {
namespace {

// Walks the lists of columns in an expression, after '@' and 'dims='; `replace` gives what stands
// for a name, or nothing if it is none and the list ends there.
template <class Replace>
std::string walk(const std::string& text, const Replace& replace) {
  std::string out;
  std::size_t i = 0;
  const auto skip_spaces = [&] {
    while (i < text.size() && text[i] == ' ') out += text[i++];
  };
  const auto name_end = [&](std::size_t at) {
    const auto quote = text[at];
    if (quote == '\'' || quote == '"') return std::min(text.size(), text.find(quote, at + 1) + 1);
    return std::min(text.size(), text.find_first_of(" ,+*@()=", at));
  };
  while (i < text.size()) {
    const bool dims = text.compare(i, 5, "dims=") == 0;
    if (text[i] != '@' && !dims) {
      out += text[i++];
      continue;
    }
    out.append(text, i, dims ? 5 : 1);
    i += dims ? 5 : 1;
    for (bool first = true;; first = false) {
      skip_spaces();
      if (i >= text.size()) break;
      const std::size_t end = name_end(i);
      std::string name = text.substr(i, end - i);
      const bool number = !name.empty() && std::isdigit(static_cast<unsigned char>(name[0])) &&
                          name.find_first_not_of("0123456789:") == std::string::npos;
      const bool key = end < text.size() && (text[end] == '=' || text[end] == '(');
      if (name.empty() || (key && !first)) break;
      if (name.size() > 1 && (name[0] == '\'' || name[0] == '"'))
        name = name.substr(1, name.size() - 2);
      const auto found = number ? std::optional(name) : replace(name, first);
      if (!found) break;
      out += *found;
      i = end;
      skip_spaces();
      if (i >= text.size() || text[i] != ',') break;
      out += text[i++];
    }
  }
  return out;
}

}  // namespace

bool names_columns(const std::string& kernel) {
  bool named = false;
  walk(kernel, [&](const std::string&, bool) {
    named = true;
    return std::optional<std::string>();
  });
  return named;
}

std::string kernel_on_columns(const std::string& kernel, const InputColumns& inputs) {
  return walk(kernel, [&](const std::string& name, bool first) -> std::optional<std::string> {
    Index from = 0;
    std::vector<std::string> names;
    for (const auto& column : inputs.columns) {
      const auto width = static_cast<Index>(column.names().size());
      if (column.name == name)
        return width == 1 ? fmt::format("{}", from) : fmt::format("{}:{}", from, from + width);
      from += width;
      names.push_back(column.name);
    }
    if (!first) return std::nullopt;
    throw InputError(fmt::format("the kernel '{}' names '{}', which is not an input ({}){}", kernel,
                                 name, name_list(names), did_you_mean(name, names)));
  });
}

}  // namespace covary
