#include "covary/data/inputs.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "covary/data/columns.hpp"
#include "covary/error.hpp"

namespace covary {

InputColumns InputColumns::from(const Table& table, const std::vector<Index>& chosen,
                                std::vector<std::string>* notes) {
  InputColumns out;
  for (const Index j : chosen) {
    Column column{table.names[static_cast<std::size_t>(j)], {}};
    if (table.is_text(j)) {
      column.levels = one_hot(table, j).levels;
      if (notes)
        notes->push_back(fmt::format("column '{}' holds text: coded one-hot as {} columns",
                                     column.name, column.levels.size()));
    }
    out.columns.push_back(std::move(column));
  }
  return out;
}

InputColumns InputColumns::named(const std::vector<std::string>& names) {
  InputColumns out;
  out.columns.reserve(names.size());
  for (const auto& name : names) out.columns.push_back({name, {}});
  return out;
}

std::vector<std::string> InputColumns::names() const {
  std::vector<std::string> out;
  for (const auto& c : columns) {
    if (c.levels.empty()) out.push_back(c.name);
    for (const auto& level : c.levels) out.push_back(c.name + "=" + level);
  }
  return out;
}

RowMatrix InputColumns::apply(const Table& table) const {
  const auto count = static_cast<Index>(columns.size());
  const bool named = std::all_of(columns.begin(), columns.end(), [&](const Column& c) {
    return std::count(table.names.begin(), table.names.end(), c.name) > 0;
  });
  // Without a header, names are c0, c1, … and a table of inputs alone may count them otherwise.
  const bool in_order = table.cols() == count && (!named || !table.has_header);
  std::vector<RowMatrix> parts;
  Index width = 0;
  for (Index i = 0; i < count; ++i) {
    const Column& c = columns[static_cast<std::size_t>(i)];
    const Index j = in_order ? i : select_columns(table, {c.name}).front();
    if (c.levels.empty())
      parts.push_back(numeric_columns(table, {j}));
    else
      parts.push_back(one_hot(table, j, c.levels).values);
    width += parts.back().cols();
  }
  RowMatrix X(table.rows(), width);
  Index at = 0;
  for (const auto& part : parts) {
    X.middleCols(at, part.cols()) = part;
    at += part.cols();
  }
  return X;
}

}  // namespace covary
