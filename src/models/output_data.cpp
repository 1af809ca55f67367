// The data of models of outputs alone.
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "covary/data/columns.hpp"
#include "covary/error.hpp"
#include "covary/models/model_data.hpp"
#include "models/roles.hpp"
#include "models/words.hpp"

namespace covary {
namespace {

std::vector<std::string> names_of(const Table& table, const std::vector<Index>& columns) {
  std::vector<std::string> out;
  out.reserve(columns.size());
  for (const Index c : columns) out.push_back(table.names[static_cast<std::size_t>(c)]);
  return out;
}

// As asked, or all with numbers that play no other part. Those with text that are left are told of.
std::vector<Index> output_columns(const Table& table, const std::vector<std::string>& asked,
                                  const std::vector<Index>& others, const Tell& tell) {
  if (!asked.empty()) return select_columns(table, split_lists(asked));
  std::vector<Index> out, text;
  for (Index c = 0; c < table.cols(); ++c)
    if (std::find(others.begin(), others.end(), c) == others.end())
      (table.is_text(c) ? text : out).push_back(c);
  if (out.empty()) throw InputError("the table has no column with numbers to model");
  if (!text.empty())
    tell(fmt::format("ignoring text columns: {}", fmt::join(names_of(table, text), ", ")));
  return out;
}

std::vector<std::string> cells_of(const Table& table, Index column) {
  const auto& text = table.text[static_cast<std::size_t>(column)];
  if (!text.empty()) return text;
  std::vector<std::string> out;
  for (const double v : table.values.col(column)) out.push_back(fmt::format("{}", v));
  return out;
}

// First rows of the runs of equal cells.
std::vector<Index> runs_of(const std::vector<std::string>& cells) {
  std::vector<Index> out;
  for (std::size_t i = 0; i < cells.size(); ++i)
    if (i == 0 || cells[i] != cells[i - 1]) out.push_back(static_cast<Index>(i));
  return out;
}

std::vector<LatentView> views_of(const std::vector<std::string>& given, const Table& table,
                                 const std::vector<Index>& outputs) {
  std::vector<LatentView> out;
  std::set<Index> left(outputs.begin(), outputs.end());
  for (const auto& text : given) {
    const auto [name, columns] = split_assignment(text, "--view");
    LatentView view{name, {}};
    for (const Index c : select_columns(table, split_lists({columns}))) {
      const auto at = std::find(outputs.begin(), outputs.end(), c);
      if (at == outputs.end())
        throw InputError(fmt::format("--view {}: column '{}' is not an output of the model", name,
                                     table.names[static_cast<std::size_t>(c)]));
      view.columns.push_back(at - outputs.begin());
      left.erase(c);
    }
    out.push_back(std::move(view));
  }
  if (!out.empty() && !left.empty())
    throw InputError(
        fmt::format("column '{}' is in no view; add it to a --view, or leave it out of --target",
                    table.names[static_cast<std::size_t>(*left.begin())]));
  return out;
}

}  // namespace

ModelData read_outputs(const Table& table, const FitOptions& o, const Tell& tell) {
  std::vector<Index> others;
  const auto column = [&](const std::string& spec) {
    others.push_back(select_columns(table, {spec}).front());
    return others.back();
  };
  ModelData d;
  if (!o.dynamics_kernel.empty() && o.dynamics.empty())
    throw InputError("--dynamics-kernel needs --dynamics; name the column of times");
  if (o.discriminative > 0.0 && o.label.empty())
    throw InputError("--discriminative needs labels; name their column with --label");
  if (!o.label.empty()) d.row_labels = cells_of(table, column(o.label));
  if (!o.dynamics.empty()) {
    const auto columns = select_columns(table, split_lists({o.dynamics}));
    others.insert(others.end(), columns.begin(), columns.end());
    d.times = numeric_columns(table, columns);
    d.time_names = names_of(table, columns);
    if (!o.sequences.empty()) d.sequences = runs_of(cells_of(table, column(o.sequences)));
  } else if (!o.sequences.empty()) {
    throw InputError("--sequences needs --dynamics; name the column of times");
  }
  const auto outputs = output_columns(table, o.target, others, tell);
  d.Y = numeric_columns(table, outputs);
  check_outputs(d.Y, names_of(table, outputs), table);
  d.views = views_of(o.views, table, outputs);
  d.output_names = names_of(table, outputs);
  d.formats = formats_of(table, {}, d.output_names);
  return d;
}

}  // namespace covary
