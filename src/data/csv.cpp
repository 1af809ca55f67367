#include "covary/data/csv.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <limits>

#include "covary/error.hpp"
#include "data/cell_formats.hpp"
#include "data/cells.hpp"
#include "data/encoding.hpp"
#include "data/scanner.hpp"

namespace covary {
namespace {

constexpr double missing = std::numeric_limits<double>::quiet_NaN();

void check_is_text(std::string_view text, const std::string& name) {
  // Zero bytes are looked for everywhere, other control characters at the beginning only.
  const auto control = [](char c) {
    return c >= 0 && c < ' ' && c != '\t' && c != '\n' && c != '\r';
  };
  const std::string_view beginning = text.substr(0, 4096);
  const auto odd = std::find_if(beginning.begin(), beginning.end(), control);
  const std::size_t at =
      odd != beginning.end() ? static_cast<std::size_t>(odd - beginning.begin()) : text.find('\0');
  if (at != std::string_view::npos)
    throw FileError(fmt::format(
        "'{}' is not a text table: byte {} is {:#04x}; tables are CSV, TSV or plain text in UTF-8, "
        ".npy or IDX, each also in gzip",
        name, at, static_cast<unsigned char>(text[at])));
}

std::string extension(std::string name) {
  std::transform(name.begin(), name.end(), name.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  if (name.ends_with(".gz")) name.resize(name.size() - 3);
  const auto dot = name.find_last_of("./");
  return dot == std::string::npos || name[dot] == '/' ? "" : name.substr(dot);
}

char detect_delimiter(std::string_view text, const std::string& name) {
  const std::string ending = extension(name);
  if (ending == ".tsv") return '\t';
  Index commas = 0, tabs = 0, semicolons = 0;
  bool quoted = false;
  const std::size_t begin = text.find_first_not_of(" \r\n");
  for (char c : text.substr(std::min(begin, text.size()))) {
    if (c == '"') quoted = !quoted;
    if (quoted) continue;
    if (c == '\n' || c == '\r') break;
    commas += c == ',';
    tabs += c == '\t';
    semicolons += c == ';';
  }
  const Index most = std::max({commas, tabs, semicolons});
  if (most == 0) return ending == ".csv" ? ',' : ' ';
  return commas == most ? ',' : tabs == most ? '\t' : ';';
}

std::vector<std::string> first_row(Scanner scanner, const std::string& name) {
  if (!scanner.begin_row()) throw FileError(fmt::format("'{}' has only blank lines", name));
  std::vector<std::string> cells;
  do cells.emplace_back(scanner.cell());
  while (scanner.end_cell());
  return cells;
}

// Calls take(j, scanner) for each cell of the row, which must have `expected` cells.
template <class Take>
void for_each_cell(Scanner& scanner, Index expected, const std::string& name, Take take) {
  const Index line = scanner.line();
  Index found = 0;
  do {
    if (found < expected)
      take(found, scanner);
    else
      scanner.cell();
    ++found;
  } while (scanner.end_cell());
  if (found != expected)
    throw FileError(fmt::format("'{}', line {}: expected {} cells as in the first row, found {}",
                                name, line, expected, found));
}

// Fills values from the rows to come; true in the result marks a column with a cell that is no
// number.
std::vector<bool> read_numbers(Scanner& scanner, Table& table, Index columns, Index most_rows,
                               const std::string& name) {
  std::vector<bool> other(static_cast<std::size_t>(columns), false);
  RowMatrix& values = table.values;
  values.resize(most_rows, columns);
  Index rows = 0;
  while (scanner.begin_row()) {
    table.lines.push_back(scanner.line());
    double* row = values.data() + rows * columns;
    for_each_cell(scanner, columns, name, [&](Index j, Scanner& s) {
      if (s.number(row[j])) return;
      const std::string_view cell = s.cell();
      const auto value = is_missing(cell) ? missing : parse_number(cell);
      if (!value) other[static_cast<std::size_t>(j)] = true;
      row[j] = value.value_or(missing);
    });
    ++rows;
  }
  values.conservativeResize(rows, columns);
  return other;
}

// The cells of some columns of the rows to come.
std::vector<std::vector<std::string>> read_cells(Scanner scanner, const std::vector<bool>& wanted,
                                                 const std::string& name) {
  std::vector<std::vector<std::string>> cells(wanted.size());
  while (scanner.begin_row())
    for_each_cell(scanner, static_cast<Index>(wanted.size()), name, [&](Index j, Scanner& s) {
      const std::string_view cell = s.cell();
      if (wanted[static_cast<std::size_t>(j)])
        cells[static_cast<std::size_t>(j)].emplace_back(cell);
    });
  return cells;
}

}  // namespace

Table parse_csv(std::string_view text, const std::string& name, const TableOptions& options) {
  if (text.starts_with("\xEF\xBB\xBF")) text.remove_prefix(3);  // a byte-order mark
  if (text.empty()) throw FileError(fmt::format("'{}' is empty", name));
  check_is_text(text, name);
  Table table;
  std::string recoded;
  if (!is_utf8(text)) {
    text = recoded = latin1_to_utf8(text);
    table.notes.push_back("the file is not UTF-8 and was read as ISO 8859-1");
  }

  const char delimiter = options.delimiter ? options.delimiter : detect_delimiter(text, name);
  Scanner scanner(text, delimiter, name, options.first_line);
  table.names = first_row(scanner, name);
  const auto columns = static_cast<Index>(table.names.size());
  table.has_header = options.header == Header::yes ||
                     (options.header == Header::detect &&
                      !std::all_of(table.names.begin(), table.names.end(),
                                   [](auto& c) { return is_missing(c) || is_value(c); }));
  if (table.has_header) {
    scanner.begin_row();
    for_each_cell(scanner, columns, name, [](Index, Scanner& s) { s.cell(); });
  }
  for (std::size_t j = 0; j < table.names.size(); ++j)
    if (!table.has_header || table.names[j].empty()) table.names[j] = fmt::format("c{}", j);

  // A row ends a line, and a cell takes at least one byte with what follows it.
  const Index lines =
      std::count(text.begin(), text.end(), '\n') + std::count(text.begin(), text.end(), '\r') + 1;
  const Index most_rows = std::min(lines, static_cast<Index>(text.size()) / columns + 1);
  const Scanner again = scanner;
  std::vector<bool> other = read_numbers(scanner, table, columns, most_rows, name);
  for (std::size_t j = 0; j < other.size(); ++j) {
    const auto given = options.formats.find(table.names[j]);
    if (given != options.formats.end() && given->second != CellFormat::plain) other[j] = true;
  }
  if (table.rows() == 0)
    throw FileError(fmt::format("'{}' has a header and no rows of data", name));
  if (scanner.blank_lines() > 0)
    table.notes.push_back(fmt::format("blank lines skipped: {}", scanner.blank_lines()));

  // Only a table with such columns is walked a second time, for their text.
  table.text.resize(table.names.size());
  if (std::find(other.begin(), other.end(), true) == other.end()) return table;
  table.text = read_cells(again, other, name);
  settle_columns(table, options);
  // Where commas are decimal, points may separate thousands: 1.234 among 1,5.
  const auto is_comma = [](const auto& f) { return f.second == CellFormat::comma; };
  if (std::none_of(table.formats.begin(), table.formats.end(), is_comma)) return table;
  other.flip();
  auto cells = read_cells(again, other, name);
  for (Index j = 0; j < columns; ++j)
    if (const auto k = static_cast<std::size_t>(j); other[k])
      settle_thousands(table, j, std::move(cells[k]));
  return table;
}

}  // namespace covary
