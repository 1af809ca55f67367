#pragma once

#include <string>
#include <vector>

#include "covary/data/table.hpp"

namespace covary {

// The columns of text of a table: those whose cells are all dates or marked numbers become numbers,
// with a note; what can be read in two ways is unclear and stays text, as other text does.
void settle_columns(Table& table, const TableOptions& options);

// A column of numbers in a table with decimal commas: read again if its points separate thousands.
void settle_thousands(Table& table, Index column, std::vector<std::string> cells);

}  // namespace covary
