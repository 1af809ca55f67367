#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "covary/data/table.hpp"

namespace covary {

// Text in rows and cells. Cells may be quoted ("a ""b"", c"); lines end in \n, \r\n or \r; blank
// lines are skipped. Empty cells, NA, N/A, null, ? and nan are missing. Columns
// of dates and of marked numbers (see CellFormat) become numbers; any other column with a cell that
// is not a number is kept as text. `name` is the file's, for messages and its extension.
Table parse_csv(std::string_view text, const std::string& name, const TableOptions& options = {});

// Comma-separated text, with a header unless `names` is empty; every double in the fewest digits
// that read back to the same bits, a missing value as nan.
std::string format_csv(const std::vector<std::string>& names, ConstRows values);
// The same of a table with text, and with its dates as ISO dates.
std::string format_csv(const Table& table, bool header = true);
// Days since 1970-01-01 as 2021-02-01 or, with a time of day, 2021-02-01T13:45:00; "" for NaN.
std::string format_date(double days);

// A column of text as numbers or dates where all of its cells are (see CellFormat), with a note;
// it stays as it is, with the reason where that may surprise, if not. For tables in memory.
void settle_text(Table& table, Index column, const TableOptions& options = {});
void write_csv(const std::string& path, const std::vector<std::string>& names, ConstRows values);

}  // namespace covary
