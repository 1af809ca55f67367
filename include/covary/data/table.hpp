#pragma once

#include <map>
#include <string>
#include <vector>

#include "covary/linalg/types.hpp"

namespace covary {

// How the cells of a column are written. Marks of numbers are separators of thousands, currency
// signs and '%', which are dropped: '12 %' is 12.
enum class CellFormat {
  plain,        // 1234.5
  point,        // 1,234.5 €: decimal points, with marks
  comma,        // 1.234,5 €: decimal commas
  date,         // 2021-02-01 or 2021/02/01, with a time or without
  day_first,    // 01.02.2021, 1/2/21
  month_first,  // 2/1/2021
  text
};
const char* print(CellFormat format);
CellFormat parse_cell_format(const std::string& text);
using CellFormats = std::map<std::string, CellFormat>;  // by the name of the column

// A table in memory. Column j has the same number everywhere: its name is names[j], its numbers are
// values.col(j) and, when it holds text, its cells are text[j].
struct Table {
  std::vector<std::string> names;  // C names; c0, c1, … where the file gives none
  RowMatrix values;                // N×C; NaN is a missing cell or a cell of a text column
  std::vector<std::vector<std::string>> text;  // C lists, empty for numeric columns; "" is missing
  std::vector<std::string> notes;              // what the reader did beyond reading numbers
  bool has_header = false;
  CellFormats
      formats;  // of columns of marked numbers and of dates, which are days since 1970-01-01
  // Columns that can be read in two ways, and what to say of them; they are kept as text.
  std::map<std::string, std::string> unclear;
  std::vector<Index> lines;  // of the file on which each row begins; none where there are none

  Index rows() const { return values.rows(); }
  Index cols() const { return values.cols(); }
  bool is_text(Index j) const { return !text[static_cast<std::size_t>(j)].empty(); }
  // For messages: "line 17" of the file, else "row 15", counted from 0.
  std::string where(Index row) const;
  // Some rows, in this order.
  Table take(const std::vector<Index>& numbers) const;
};

bool is_date(const CellFormats& formats, const std::string& column);

enum class Header { detect, yes, no };

struct TableOptions {
  // detect: a first row with any cell that is neither a number, a date nor missing is a header.
  Header header = Header::detect;
  // '\0': the commonest of comma, tab and semicolon in the first line; ' ' stands for any run of
  // spaces and tabs, and is chosen for files other than .csv and .tsv when none of those occurs.
  char delimiter = '\0';
  // How columns of these names are written: a model that took a column for text, or for dates with
  // the day first, in training needs it so in later tables.
  CellFormats formats = {};
  // Of columns that can be read in two ways: plain leaves them unclear, or day_first or
  // month_first, and point or comma.
  CellFormat dates = CellFormat::plain, decimal = CellFormat::plain;
  Index first_line = 1;  // the number of the first line, for messages about a part of a file
};

// Reads CSV, TSV and plain text, NPY (.npy) and IDX (.idx, *-ubyte), each also when compressed by
// gzip. Throws FileError for a file that is missing, empty, truncated or not of its kind.
Table read_table(const std::string& path, const TableOptions& options = {});

// A numeric table with columns c0, c1, …
Table numeric_table(RowMatrix values);

// The path of a public data set: $COVARY_DATA, ./data and ../shared/data are tried in this order.
std::string find_data(const std::string& relative_path);

}  // namespace covary
