#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "covary/data/columns.hpp"
#include "covary/data/split.hpp"
#include "covary/error.hpp"
#include "training_arguments.hpp"

namespace covary::cli {
namespace {

bool is_count(const std::string& text) {
  return !text.empty() &&
         std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

// Which columns of the table play which part.
struct Roles {
  std::vector<Index> targets, noise, folds, inputs;
};

Roles roles(const Table& table, const TrainingArguments& a) {
  Roles r;
  r.targets = select_columns(table, split_lists(a.target));
  if (!a.noise.empty()) r.noise = select_columns(table, {a.noise});
  if (!a.folds.empty() && !is_count(a.folds)) r.folds = select_columns(table, {a.folds});
  std::vector<Index> taken = r.targets;
  taken.insert(taken.end(), r.noise.begin(), r.noise.end());
  taken.insert(taken.end(), r.folds.begin(), r.folds.end());
  if (a.inputs.empty()) {
    for (Index j = 0; j < table.cols(); ++j)
      if (!std::count(taken.begin(), taken.end(), j)) r.inputs.push_back(j);
  } else {
    r.inputs = select_columns(table, split_lists(a.inputs));
    for (const Index j : r.inputs)
      if (std::count(taken.begin(), taken.end(), j))
        throw InputError(fmt::format("column '{}' cannot be an input as well",
                                     table.names[static_cast<std::size_t>(j)]));
  }
  if (r.inputs.empty()) throw InputError("no input columns are left; a fit needs at least one");
  return r;
}

std::vector<std::string> labels(const Table& table, Index column) {
  if (table.is_text(column)) return table.text[static_cast<std::size_t>(column)];
  std::vector<std::string> out;
  for (Index i = 0; i < table.rows(); ++i)
    out.push_back(fmt::format("{}", table.values(i, column)));
  return out;
}

// The rows that the policy keeps.
std::vector<Index> kept_rows(const TrainingData& d, const std::string& policy) {
  std::vector<Index> keep;
  for (Index i = 0; i < d.X.rows(); ++i) {
    const bool x_missing = d.X.row(i).array().isNaN().any();
    const bool y_missing = d.Y.row(i).array().isNaN().any();
    const bool y_empty = d.Y.row(i).array().isNaN().all();
    if (policy == "error" && (x_missing || y_missing))
      throw InputError(
          fmt::format("row {} has a missing value; use --missing drop or --missing model", i));
    if (policy == "model" && x_missing)
      throw InputError(
          fmt::format("row {} has a missing input; drop such rows with --missing drop", i));
    if (policy == "drop" ? !(x_missing || y_missing) : !y_empty) keep.push_back(i);
  }
  return keep;
}

}  // namespace

TrainingData read_training(const TrainingArguments& a, const Common& common) {
  const Table table = read_table(a.train, {.header = parse_header(a.header)});
  for (const auto& note : table.notes) tell(common, note);
  const Roles r = roles(table, a);
  TrainingData d;
  std::vector<std::string> notes;
  d.inputs = InputColumns::from(table, r.inputs, &notes);
  for (const auto& note : notes) tell(common, note);
  d.X = d.inputs.apply(table);
  d.Y = numeric_columns(table, r.targets);
  if (!r.noise.empty()) d.noise = numeric_columns(table, r.noise).col(0);
  if (!r.folds.empty()) d.fold_labels = labels(table, r.folds.front());
  for (const Index j : r.targets)
    d.output_names.push_back(table.names[static_cast<std::size_t>(j)]);

  const auto keep = kept_rows(d, a.missing);
  if (static_cast<Index>(keep.size()) == d.X.rows()) return d;
  tell(common,
       fmt::format("{} of {} rows are left out: {}", d.X.rows() - static_cast<Index>(keep.size()),
                   d.X.rows(),
                   a.missing == "drop" ? "they have missing values" : "no output is observed"));
  return d.rows(keep);
}

}  // namespace covary::cli
