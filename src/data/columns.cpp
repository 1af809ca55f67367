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

// A column by name or number; `limit` is the first number that is too large.
Index resolve(const Table& table, const ColumnNames& names, const std::string& spec, Index limit) {
  if (const auto column = names.find(spec)) return *column;
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

ColumnNames::ColumnNames(const Table& table) {
  for (std::size_t j = 0; j < table.names.size(); ++j) {
    const auto [at, is_new] = first_.emplace(table.names[j], static_cast<Index>(j));
    if (!is_new) second_.emplace(table.names[j], static_cast<Index>(j));
  }
}

std::optional<Index> ColumnNames::find(const std::string& name) const {
  const auto at = first_.find(name);
  if (at == first_.end()) return {};
  if (const auto twice = second_.find(name); twice != second_.end())
    throw InputError(
        fmt::format("the column name '{}' occurs twice, at columns {} and {}; use the number", name,
                    at->second, twice->second));
  return at->second;
}

std::vector<Index> select_columns(const Table& table, const std::vector<std::string>& specs) {
  std::vector<Index> selected;
  const ColumnNames names(table);
  std::vector<bool> seen(table.names.size());
  const auto add = [&](Index column) {
    if (seen[static_cast<std::size_t>(column)])
      throw InputError(fmt::format("column {} ('{}') is selected twice", column,
                                   table.names[static_cast<std::size_t>(column)]));
    seen[static_cast<std::size_t>(column)] = true;
    selected.push_back(column);
  };
  for (const std::string& spec : specs) {
    const auto colon = spec.find(':');
    if (colon == std::string::npos || names.find(spec)) {
      add(resolve(table, names, spec, table.cols()));
      continue;
    }
    const std::string a = spec.substr(0, colon), b = spec.substr(colon + 1);
    const Index first = a.empty() ? 0 : resolve(table, names, a, table.cols());
    const Index last = b.empty() ? table.cols() : resolve(table, names, b, table.cols() + 1);
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
      if (const auto asks = table.unclear.find(table.names[static_cast<std::size_t>(column)]);
          asks != table.unclear.end())
        throw InputError(asks->second);
      const auto& cells = table.text[static_cast<std::size_t>(column)];
      const auto word = std::find_if(cells.begin(), cells.end(), [](const std::string& cell) {
        return !is_missing(cell) && !parse_number(cell);
      });
      throw InputError(fmt::format(
          "column '{}' holds text{}; leave it out or encode it as indicators of its values",
          table.names[static_cast<std::size_t>(column)],
          word == cells.end()
              ? ""
              : fmt::format(", the first '{}' in {}", *word, table.where(word - cells.begin()))));
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
      throw InputError(fmt::format("column '{}' has the value '{}' in {}; known are {}", name, cell,
                                   table.where(i), name_list(levels)));
    result.values(i, level - levels.begin()) = 1;
  }
  result.levels = std::move(levels);
  return result;
}

}  // namespace covary
