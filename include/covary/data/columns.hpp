#pragma once

#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "covary/data/table.hpp"

namespace covary {

// Columns by name, in time that does not grow with their number.
class ColumnNames {
 public:
  explicit ColumnNames(const Table& table);
  // Nothing where there is none; InputError where there are two.
  std::optional<Index> find(const std::string& name) const;

 private:
  std::unordered_map<std::string, Index> first_, second_;
};

// The numbers of the columns that `specs` ask for, in the order asked. A spec is a name, a number
// from 0, or a range a:b that excludes b (either end may be left out). A name goes before a number.
// InputError for an unknown, ambiguous or repeated column.
std::vector<Index> select_columns(const Table& table, const std::vector<std::string>& specs);

// The values of some columns, N×columns.size(). InputError when one of them holds text.
RowMatrix numeric_columns(const Table& table, const std::vector<Index>& columns);

// The columns that hold numbers or dates.
std::vector<Index> numeric_column_numbers(const Table& table);

// A text column as one indicator column for each of its values.
struct OneHot {
  std::vector<std::string> levels;  // sorted
  std::vector<std::string> names;   // col=level
  RowMatrix values;                 // N×levels of 0 and 1; a row of NaN where the cell is missing
};

// With `levels` (those of a training table) given, a value outside them is an InputError.
OneHot one_hot(const Table& table, Index column, std::vector<std::string> levels = {});

}  // namespace covary
