#pragma once

#include <string>
#include <vector>

#include "covary/linalg/types.hpp"

namespace covary {

// A table in memory. Column j has the same number everywhere: its name is names[j], its numbers are
// values.col(j) and, when it holds text, its cells are text[j].
struct Table {
  std::vector<std::string> names;  // C names; c0, c1, … where the file gives none
  RowMatrix values;                // N×C; NaN is a missing cell or a cell of a text column
  std::vector<std::vector<std::string>> text;  // C lists, empty for numeric columns; "" is missing
  std::vector<std::string> notes;              // what the reader did beyond reading numbers
  bool has_header = false;

  Index rows() const { return values.rows(); }
  Index cols() const { return values.cols(); }
  bool is_text(Index j) const { return !text[static_cast<std::size_t>(j)].empty(); }
};

enum class Header { detect, yes, no };

struct TableOptions {
  // detect: a first row with any cell that is neither a number, a date nor missing is a header.
  Header header = Header::detect;
  // '\0': the commonest of comma, tab and semicolon in the first line; ' ' stands for any run of
  // spaces and tabs, and is chosen for files other than .csv and .tsv when none of those occurs.
  char delimiter = '\0';
  // Columns of these names are text whatever they hold: a model that took a column for text in
  // training needs it as text in tables that happen to have numbers there.
  std::vector<std::string> text_columns = {};
};

// Reads CSV, TSV and plain text, NPY (.npy) and IDX (.idx, *-ubyte), each also when compressed by
// gzip. Throws FileError for a file that is missing, empty, truncated or not of its kind.
Table read_table(const std::string& path, const TableOptions& options = {});

// A numeric table with columns c0, c1, …
Table numeric_table(RowMatrix values);

// The path of a public data set: $COVARY_DATA, ./data and ../shared/data are tried in this order.
std::string find_data(const std::string& relative_path);

}  // namespace covary
