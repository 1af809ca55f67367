#include "covary/data/inputs.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "covary/data/columns.hpp"
#include "covary/error.hpp"
#include "data/cells.hpp"

namespace covary {
namespace {

constexpr double two_pi = 6.28318530717958647692;

// Whether training made the names: c0, c2, … of a table without a header, x0, x1, … of an array.
bool are_numbered(const std::vector<InputColumns::Column>& columns) {
  bool of_table = true, of_array = true;
  for (std::size_t i = 0; i < columns.size(); ++i) {
    const std::string& name = columns[i].name;
    of_table = of_table && name.size() > 1 && name[0] == 'c' &&
               name.find_first_not_of("0123456789", 1) == std::string::npos;
    of_array = of_array && name == fmt::format("x{}", i);
  }
  return of_table || of_array;
}

}  // namespace

std::vector<std::string> InputColumns::Column::names() const {
  if (period > 0.0) return {"cos(" + name + ")", "sin(" + name + ")"};
  if (levels.empty()) return {name};
  std::vector<std::string> out;
  for (const auto& level : levels) out.push_back(name + "=" + level);
  return out;
}

InputColumns InputColumns::from(const Table& table, const std::vector<Index>& chosen,
                                std::vector<std::string>* notes,
                                const std::map<std::string, double>& periods) {
  InputColumns out;
  for (const Index j : chosen) {
    Column column{table.names[static_cast<std::size_t>(j)], {}};
    if (table.is_text(j)) {
      column.levels = one_hot(table, j).levels;
      if (notes)
        notes->push_back(fmt::format("column '{}' holds text: coded one-hot as {} columns",
                                     column.name, column.levels.size()));
    } else if (const auto circle = periods.find(column.name); circle != periods.end()) {
      column.period = circle->second;
    }
    out.columns.push_back(std::move(column));
  }
  return out;
}

InputColumns InputColumns::named(const std::vector<std::string>& names) {
  InputColumns out;
  out.columns.reserve(names.size());
  for (const auto& name : names) out.columns.push_back({name, {}});
  return out;
}

std::vector<std::string> InputColumns::names() const {
  std::vector<std::string> out;
  for (const auto& c : columns)
    for (auto& name : c.names()) out.push_back(std::move(name));
  return out;
}

std::vector<Index> InputColumns::find(const Table& table) const {
  const ColumnNames there(table);
  std::vector<Index> out;
  std::vector<std::string> missing;
  for (const Column& c : columns)
    if (const auto j = there.find(c.name))
      out.push_back(*j);
    else
      missing.push_back("'" + c.name + "'");
  const bool as_many = table.cols() == static_cast<Index>(columns.size());
  // Names c0, c1, … of a table of inputs alone may count them otherwise than training did.
  if (as_many && (!table.has_header || (are_numbered(columns) && !missing.empty()))) {
    out.clear();
    for (Index i = 0; i < table.cols(); ++i) out.push_back(i);
  } else if (!missing.empty()) {
    throw InputError(fmt::format(
        "the table lacks the model's input{} {}; its columns are {}. Columns are found by name: "
        "{}",
        missing.size() == 1 ? "" : "s", name_list(missing), name_list(table.names),
        table.has_header
            ? "rename them as in training"
            : fmt::format("give them a header, or the {} inputs alone, in order", columns.size())));
  }
  for (std::size_t i = 0; i < columns.size(); ++i)
    if (columns[i].levels.empty() && table.is_text(out[i]))
      static_cast<void>(numeric_columns(table, {out[i]}));  // refuses
  return out;
}

RowMatrix InputColumns::apply(const Table& table) const {
  const auto at = find(table);
  Index width = 0;
  for (const Column& c : columns)
    width += c.period > 0.0 ? 2 : std::max<Index>(1, static_cast<Index>(c.levels.size()));
  RowMatrix X(table.rows(), width);
  Index to = 0;
  for (std::size_t i = 0; i < columns.size(); ++i) {
    const Column& c = columns[i];
    const Index j = at[i];
    if (!c.levels.empty()) {
      const OneHot coded = one_hot(table, j, c.levels);
      X.middleCols(to, coded.values.cols()) = coded.values;
      to += coded.values.cols();
      continue;
    }
    if (c.period > 0.0) {
      const Vector angle = table.values.col(j) * (two_pi / c.period);
      X.col(to++) = angle.array().cos();
      X.col(to++) = angle.array().sin();
    } else {
      X.col(to++) = table.values.col(j);
    }
  }
  return X;
}

std::vector<Index> InputColumns::complete_rows(const Table& table) const {
  const auto at = find(table);
  std::vector<Index> out;
  for (Index i = 0; i < table.rows(); ++i)
    if (std::none_of(at.begin(), at.end(), [&](Index j) {
          return table.is_text(j)
                     ? table.text[static_cast<std::size_t>(j)][static_cast<std::size_t>(i)].empty()
                     : std::isnan(table.values(i, j));
        }))
      out.push_back(i);
  return out;
}

}  // namespace covary
