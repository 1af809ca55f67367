#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "covary/data/table.hpp"

namespace covary {

// Text in rows and cells. Cells may be quoted ("a ""b"", c"); lines end in \n, \r\n or \r; blank
// lines are skipped. Empty cells, NA, N/A, null, ? and nan are missing. A column of ISO dates
// (2020-01-31, with T or space and a time) becomes days since 1970-01-01; any other column with a
// cell that is not a number is kept as text. `name` is the file's, for messages and its extension.
Table parse_csv(std::string_view text, const std::string& name, const TableOptions& options = {});

// Comma-separated text, with a header unless `names` is empty; every double in the fewest digits
// that read back to the same bits, a missing value as nan. `text`, one cell a row or none, is a
// column of its own before the others.
std::string format_csv(const std::vector<std::string>& names, ConstRows values,
                       const std::vector<std::string>& text = {});
void write_csv(const std::string& path, const std::vector<std::string>& names, ConstRows values);

}  // namespace covary
