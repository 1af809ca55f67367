#include "covary/data/labels.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <set>

#include "covary/error.hpp"
#include "data/cells.hpp"

namespace covary {
namespace {

constexpr double missing = std::numeric_limits<double>::quiet_NaN();

// The cells of a column as text, "" for missing ones, and what messages call the column.
struct Cells {
  std::string what;
  std::vector<std::string> text;
  const Table* table = nullptr;  // that knows its lines

  std::string where(Index i) const { return table ? table->where(i) : fmt::format("row {}", i); }
};

std::string column_words(const Table& table, Index column) {
  if (column < 0 || column >= table.cols())
    throw InputError(
        fmt::format("column {} is outside the table's {} columns", column, table.cols()));
  return fmt::format("column '{}'", table.names[static_cast<std::size_t>(column)]);
}

Cells cells_of(const std::vector<std::string>& cells, std::string what,
               const Table* table = nullptr) {
  Cells out{std::move(what), cells, table};
  for (std::string& cell : out.text)
    if (is_missing(cell)) cell.clear();
  return out;
}

Cells cells_of(ConstVector values, std::string what, const Table* table = nullptr) {
  Cells out{std::move(what), {}, table};
  out.text.reserve(static_cast<std::size_t>(values.size()));
  for (Index i = 0; i < values.size(); ++i) {
    const double v = values[i];
    if (!std::isnan(v) && (std::isinf(v) || v != std::floor(v)))
      throw InputError(fmt::format(
          "{} has {} in {}; classes are text or whole numbers: round the column or cut it "
          "into ranges, or predict it as a number by regression",
          out.what, v, out.where(i)));
    out.text.push_back(std::isnan(v) ? "" : fmt::format("{}", v + 0.0));  // −0 + 0 is 0
  }
  return out;
}

Cells cells_of(const Table& table, Index column) {
  std::string what = column_words(table, column);
  if (table.is_text(column))
    return cells_of(table.text[static_cast<std::size_t>(column)], std::move(what), &table);
  return cells_of(Vector(table.values.col(column)), std::move(what), &table);
}

Labels labels_of(const Cells& cells) {
  std::set<std::string> distinct(cells.text.begin(), cells.text.end());
  distinct.erase("");
  if (distinct.empty())
    throw InputError(fmt::format("{} has no label in its {} rows; at least two classes are needed",
                                 cells.what, cells.text.size()));
  if (distinct.size() == 1)
    throw InputError(
        fmt::format("{} has one class only, '{}', in its {} rows; there is nothing to tell apart: "
                    "at least two classes are needed",
                    cells.what, *distinct.begin(), cells.text.size()));
  Labels out{{distinct.begin(), distinct.end()}};
  const bool numeric = std::all_of(out.names.begin(), out.names.end(),
                                   [](const std::string& n) { return parse_number(n); });
  if (numeric)
    std::stable_sort(out.names.begin(), out.names.end(),
                     [](const std::string& a, const std::string& b) {
                       return *parse_number(a) < *parse_number(b);
                     });
  return out;
}

// The class called `cell`, or the only one of its value.
std::optional<Index> find(const std::vector<std::string>& names, const std::string& cell) {
  const auto exact = std::find(names.begin(), names.end(), cell);
  if (exact != names.end()) return exact - names.begin();
  const auto value = parse_number(cell);
  if (!value) return {};
  std::optional<Index> found;
  for (std::size_t k = 0; k < names.size(); ++k)
    if (parse_number(names[k]) == value) {
      if (found) return {};
      found = static_cast<Index>(k);
    }
  return found;
}

Vector encoded(const std::vector<std::string>& names, const Cells& cells, Unseen unseen) {
  if (names.empty()) throw InputError("these labels have no classes; make them with Labels::from");
  Vector out(static_cast<Index>(cells.text.size()));
  // Labels come in runs and few kinds: the last one found is tried first.
  const std::string* last = nullptr;
  double last_code = missing;
  for (Index i = 0; i < out.size(); ++i) {
    const std::string& cell = cells.text[static_cast<std::size_t>(i)];
    if (!last || *last != cell) {
      const auto code = cell.empty() ? std::nullopt : find(names, cell);
      if (!code && !cell.empty() && unseen == Unseen::refuse)
        throw InputError(
            fmt::format("{} has the class '{}' in {}, which training did not see; known are {}",
                        cells.what, cell, cells.where(i), name_list(names)));
      last = &cell;
      last_code = code ? static_cast<double>(*code) : missing;
    }
    out[i] = last_code;
  }
  return out;
}

}  // namespace

Labels Labels::from(const Table& table, Index column) { return labels_of(cells_of(table, column)); }

Labels Labels::from(const std::vector<std::string>& cells) {
  return labels_of(cells_of(cells, "the list of labels"));
}

Labels Labels::from(ConstVector values) {
  return labels_of(cells_of(values, "the list of labels"));
}

Vector Labels::encode(const Table& table, Index column, Unseen unseen) const {
  return encoded(names, cells_of(table, column), unseen);
}

Vector Labels::encode(const std::vector<std::string>& cells, Unseen unseen) const {
  return encoded(names, cells_of(cells, "the list of labels"), unseen);
}

Vector Labels::encode(ConstVector values, Unseen unseen) const {
  return encoded(names, cells_of(values, "the list of labels"), unseen);
}

std::vector<std::string> Labels::decode(ConstVector codes) const {
  std::vector<std::string> out;
  out.reserve(static_cast<std::size_t>(codes.size()));
  class_counts(codes, classes());  // refuses what is no class
  for (const double code : codes)
    out.push_back(std::isnan(code) ? "" : names[static_cast<std::size_t>(code)]);
  return out;
}

std::vector<Index> class_counts(ConstVector labels, Index classes) {
  if (classes < 1) throw InputError(fmt::format("{} classes were asked for", classes));
  std::vector<Index> counts(static_cast<std::size_t>(classes));
  for (Index i = 0; i < labels.size(); ++i) {
    const double label = labels[i];
    if (std::isnan(label)) continue;
    if (!(label >= 0 && label < static_cast<double>(classes)) || label != std::floor(label))
      throw InputError(fmt::format("the label at row {} is {}; classes are numbered 0 to {}", i,
                                   label, classes - 1));
    ++counts[static_cast<std::size_t>(label)];
  }
  return counts;
}

}  // namespace covary
