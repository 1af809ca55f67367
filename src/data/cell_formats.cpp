#include "data/cell_formats.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <optional>

#include "covary/data/csv.hpp"
#include "covary/error.hpp"
#include "data/cells.hpp"

namespace covary {
namespace {

using F = CellFormat;
constexpr double missing = std::numeric_limits<double>::quiet_NaN();

bool is_of_dates(F format) {
  return format == F::date || format == F::day_first || format == F::month_first;
}

// All cells of a column by a format, NaN where they are missing; nothing if one is written
// otherwise.
std::optional<Vector> read_as(const std::vector<std::string>& cells, F format) {
  Vector out(static_cast<Index>(cells.size()));
  std::optional<std::string> mark;  // one for all: not 10 % beside 0.1
  for (std::size_t i = 0; i < cells.size(); ++i) {
    if (is_missing(cells[i])) {
      out(static_cast<Index>(i)) = missing;
      continue;
    }
    std::string own;
    const auto value = is_of_dates(format)  ? parse_date(cells[i], format)
                       : format == F::plain ? parse_number(cells[i])
                                            : parse_marked(cells[i], format, &own);
    if (!value || (mark && *mark != own)) return {};
    mark = own;
    out(static_cast<Index>(i)) = *value;
  }
  return mark ? std::optional(out) : std::nullopt;  // a column of missing cells has no format
}

bool are_equal(const Vector& a, const Vector& b) {
  return ((a.array() == b.array()) || (a.array().isNaN() && b.array().isNaN())).all();
}

std::string numbers_note(const std::string& name, const std::vector<std::string>& cells, F format) {
  // The cell that shows most of how the column is written.
  const auto& shown =
      *std::max_element(cells.begin(), cells.end(), [](const auto& a, const auto& b) {
        return (is_missing(a) ? 0 : a.size()) < (is_missing(b) ? 0 : b.size());
      });
  return fmt::format("column '{}' holds marked numbers: '{}' is read as {}", name, shown,
                     *parse_marked(shown, format));
}

// What a column is, if that is clear, or else why not.
struct Reading {
  F format = F::text;
  Vector values;
  std::string unclear;
};

// Between two readings of which one, both or none fit.
Reading choose(const std::string& name, const std::vector<std::string>& cells, F a, F b, F wanted,
               const char* question, const char* ask) {
  auto first = read_as(cells, a), second = read_as(cells, b);
  if (first && second && !are_equal(*first, *second) && wanted == F::plain) {
    const auto apart = [&] {
      for (Index i = 0; i < first->size(); ++i)
        if ((*first)(i) != (*second)(i) && !is_missing(cells[static_cast<std::size_t>(i)]))
          return static_cast<std::size_t>(i);
      return std::size_t{0};
    }();
    return {F::text, {}, fmt::format(fmt::runtime(question), name, cells[apart], ask)};
  }
  if (first && (!second || wanted != b)) return {a, std::move(*first), {}};
  if (second) return {b, std::move(*second), {}};
  return {};
}

Reading read_dates(const std::string& name, const std::vector<std::string>& cells, F wanted) {
  if (auto iso = read_as(cells, F::date)) return {F::date, std::move(*iso), {}};
  return choose(name, cells, F::day_first, F::month_first, wanted,
                "column '{}' holds dates of which the order of day and month is not clear, such as "
                "'{}'; {}",
                "choose it with --dates dmy or --dates mdy");
}

Reading read_marked(const std::string& name, const std::vector<std::string>& cells, F wanted) {
  return choose(
      name, cells, F::point, F::comma, wanted,
      "column '{}' holds numbers of which the decimal sign is not clear, such as '{}'; {}",
      "choose it with --decimal point or --decimal comma");
}

void settle(Table& table, Index j, F format, const Vector& values) {
  const auto k = static_cast<std::size_t>(j);
  const std::string& name = table.names[k];
  table.values.col(j) = values;
  if (format == F::plain) {
    table.text[k].clear();
    return;
  }
  table.formats[name] = format;
  table.notes.push_back(
      is_of_dates(format)
          ? fmt::format("column '{}' holds dates{}, read as days since 1970-01-01", name,
                        format == F::day_first     ? ", day before month"
                        : format == F::month_first ? ", month before day"
                                                   : "")
          : numbers_note(name, table.text[k], format));
  table.text[k].clear();
}

void keep_text(Table& table, Index j, bool by_wish) {
  auto& cells = table.text[static_cast<std::size_t>(j)];
  const std::string& name = table.names[static_cast<std::size_t>(j)];
  table.values.col(j).setConstant(missing);
  const auto is_word = [](const auto& c) { return !is_missing(c) && !is_value(c); };
  const auto word = std::find_if(cells.begin(), cells.end(), is_word);
  const bool values = std::any_of(cells.begin(), cells.end(),
                                  [](const auto& c) { return !is_missing(c) && is_value(c); });
  if (const auto asks = table.unclear.find(name); asks != table.unclear.end())
    table.notes.push_back(asks->second);
  else if (!by_wish && values)
    table.notes.push_back(
        word == cells.end()
            ? fmt::format("column '{}' is kept as text: its values are not written alike", name)
            : fmt::format("column '{}' is kept as text because of '{}' in {}", name, *word,
                          table.where(word - cells.begin())));
  for (std::string& cell : cells)
    if (is_missing(cell)) cell.clear();
}

// One column; true if it has become numbers.
bool settle_one(Table& table, Index j, const TableOptions& options) {
  const auto k = static_cast<std::size_t>(j);
  const std::string name = table.names[k];
  const std::vector<std::string>& cells = table.text[k];
  if (const auto given = options.formats.find(name); given != options.formats.end()) {
    if (given->second == F::text) return false;
    // A table may be cleaner than that of training, and has plain numbers or ISO dates.
    for (const F format : {given->second, is_of_dates(given->second) ? F::date : F::plain})
      if (const auto values = read_as(cells, format)) {
        settle(table, j, format, *values);
        return true;
      }
    if (!is_of_dates(given->second)) return false;  // dates may be written in another way by now
  }
  Reading r = read_dates(name, cells, options.dates);
  if (r.format == F::text && r.unclear.empty()) r = read_marked(name, cells, options.decimal);
  if (r.format == F::text) {
    if (!r.unclear.empty()) table.unclear[name] = r.unclear;
    return false;
  }
  settle(table, j, r.format, r.values);
  return true;
}

}  // namespace

const char* print(CellFormat format) {
  switch (format) {
    case F::plain:
      return "plain";
    case F::point:
      return "point";
    case F::comma:
      return "comma";
    case F::date:
      return "date";
    case F::day_first:
      return "dmy";
    case F::month_first:
      return "mdy";
    case F::text:
      return "text";
  }
  return "plain";
}

CellFormat parse_cell_format(const std::string& text) {
  for (const F f : {F::plain, F::point, F::comma, F::date, F::day_first, F::month_first, F::text})
    if (text == print(f)) return f;
  if (text == "auto") return F::plain;
  throw InputError(fmt::format("unknown format of cells '{}'", text));
}

bool is_date(const CellFormats& formats, const std::string& column) {
  const auto at = formats.find(column);
  return at != formats.end() && is_of_dates(at->second);
}

void settle_columns(Table& table, const TableOptions& options) {
  std::vector<Index> left;
  for (Index j = 0; j < table.cols(); ++j)
    if (table.is_text(j) && !settle_one(table, j, options)) left.push_back(j);
  // Where other columns have decimal commas, or points, so has one that leaves it open.
  const auto uses = [&](F format) {
    return std::any_of(table.formats.begin(), table.formats.end(),
                       [&](const auto& f) { return f.second == format; });
  };
  const bool comma = uses(F::comma);
  for (const Index j : left) {
    const auto k = static_cast<std::size_t>(j);
    const std::string& name = table.names[k];
    if (comma != uses(F::point) && table.unclear.count(name))
      if (const auto values = read_as(table.text[k], comma ? F::comma : F::point)) {
        table.unclear.erase(name);
        settle(table, j, comma ? F::comma : F::point, *values);
        continue;
      }
    const auto given = options.formats.find(name);
    keep_text(table, j, given != options.formats.end() && given->second == F::text);
  }
}

void settle_thousands(Table& table, Index j, std::vector<std::string> cells) {
  if (std::none_of(cells.begin(), cells.end(), [](const auto& c) { return c.find('.') != c.npos; }))
    return;
  if (const auto values = read_as(cells, F::comma)) {
    table.text[static_cast<std::size_t>(j)] = std::move(cells);
    settle(table, j, F::comma, *values);
  }
}

void settle_text(Table& table, Index column, const TableOptions& options) {
  // Digits that are text in memory are meant to be.
  if (!table.is_text(column) || read_as(table.text[static_cast<std::size_t>(column)], F::plain))
    return;
  if (!settle_one(table, column, options)) keep_text(table, column, false);
}

}  // namespace covary
