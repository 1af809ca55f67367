#include "covary/data/columns.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <limits>
#include <optional>
#include <set>

#include "covary/error.hpp"
#include "covary/parameters/suggest.hpp"
#include "data/cells.hpp"

namespace covary {
namespace {

[[noreturn]] void refuse_unknown(const Table& table, const std::string& spec) {
  throw InputError(fmt::format("there is no column '{}'{}; the columns are {}", spec,
                               did_you_mean(spec, table.names), name_list(table.names)));
}

std::optional<Index> named(const Table& table, const std::string& spec) {
  const auto begin = table.names.begin(), end = table.names.end();
  const auto first = std::find(begin, end, spec);
  if (first == end) return {};
  const auto second = std::find(first + 1, end, spec);
  if (second != end)
    throw InputError(
        fmt::format("the column name '{}' occurs twice, at columns {} and {}; use the number", spec,
                    first - begin, second - begin));
  return first - begin;
}

// A column by name or number; `limit` is the first number that is too large.
Index resolve(const Table& table, const std::string& spec, Index limit) {
  if (const auto column = named(table, spec)) return *column;
  Index number = 0;
  const char* end = spec.data() + spec.size();
  const auto [stop, error] = std::from_chars(spec.data(), end, number);
  if (spec.empty() || stop != end || spec[0] == '-') refuse_unknown(table, spec);
  if (error != std::errc{} || number >= limit)
    throw InputError(fmt::format("there is no column {}: the table has {} columns, 0 to {}", spec,
                                 table.cols(), table.cols() - 1));
  return number;
}

void check_column(const Table& table, Index column) {
  if (column < 0 || column >= table.cols())
    throw InputError(
        fmt::format("column {} is outside the table's {} columns", column, table.cols()));
}

}  // namespace

std::vector<Index> select_columns(const Table& table, const std::vector<std::string>& specs) {
  std::vector<Index> selected;
  const auto add = [&](Index column) {
    if (std::find(selected.begin(), selected.end(), column) != selected.end())
      throw InputError(fmt::format("column {} ('{}') is selected twice", column,
                                   table.names[static_cast<std::size_t>(column)]));
    selected.push_back(column);
  };
  for (const std::string& spec : specs) {
    const auto colon = spec.find(':');
    if (colon == std::string::npos || named(table, spec)) {
      add(resolve(table, spec, table.cols()));
      continue;
    }
    const std::string a = spec.substr(0, colon), b = spec.substr(colon + 1);
    const Index first = a.empty() ? 0 : resolve(table, a, table.cols());
    const Index last = b.empty() ? table.cols() : resolve(table, b, table.cols() + 1);
    if (first >= last)
      throw InputError(fmt::format(
          "the range of columns '{}' is empty: a:b runs from a to b, b excluded", spec));
    for (Index column = first; column < last; ++column) add(column);
  }
  return selected;
}

RowMatrix numeric_columns(const Table& table, const std::vector<Index>& columns) {
  RowMatrix values(table.rows(), static_cast<Index>(columns.size()));
  for (std::size_t k = 0; k < columns.size(); ++k) {
    const Index column = columns[k];
    check_column(table, column);
    if (table.is_text(column)) {
      const auto& cells = table.text[static_cast<std::size_t>(column)];
      const auto word = std::find_if(cells.begin(), cells.end(), [](const std::string& cell) {
        return !is_missing(cell) && !parse_number(cell);
      });
      throw InputError(fmt::format(
          "column '{}' holds text{}; leave it out or encode it as indicators of its values",
          table.names[static_cast<std::size_t>(column)],
          word == cells.end()
              ? ""
              : fmt::format(", the first '{}' at data row {}", *word, word - cells.begin())));
    }
    values.col(static_cast<Index>(k)) = table.values.col(column);
  }
  return values;
}

std::vector<Index> numeric_column_numbers(const Table& table) {
  std::vector<Index> columns;
  for (Index j = 0; j < table.cols(); ++j)
    if (!table.is_text(j)) columns.push_back(j);
  return columns;
}

OneHot one_hot(const Table& table, Index column, std::vector<std::string> levels) {
  check_column(table, column);
  const std::string& name = table.names[static_cast<std::size_t>(column)];
  if (!table.is_text(column))
    throw InputError(fmt::format("column '{}' holds numbers; only text becomes indicators", name));
  const auto& cells = table.text[static_cast<std::size_t>(column)];
  if (levels.empty()) {
    std::set<std::string> distinct(cells.begin(), cells.end());
    distinct.erase("");
    levels.assign(distinct.begin(), distinct.end());
  }
  std::sort(levels.begin(), levels.end());

  OneHot result;
  for (const std::string& level : levels) result.names.push_back(fmt::format("{}={}", name, level));
  result.values.setZero(table.rows(), static_cast<Index>(levels.size()));
  for (Index i = 0; i < table.rows(); ++i) {
    const std::string& cell = cells[static_cast<std::size_t>(i)];
    if (cell.empty()) {
      result.values.row(i).setConstant(std::numeric_limits<double>::quiet_NaN());
      continue;
    }
    const auto level = std::lower_bound(levels.begin(), levels.end(), cell);
    if (level == levels.end() || *level != cell)
      throw InputError(fmt::format("column '{}' has the value '{}' at data row {}; known are {}",
                                   name, cell, i, name_list(levels)));
    result.values(i, level - levels.begin()) = 1;
  }
  result.levels = std::move(levels);
  return result;
}

}  // namespace covary
