#include "covary/models/model_data.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <set>

#include "covary/data/columns.hpp"
#include "covary/data/split.hpp"
#include "covary/error.hpp"
#include "covary/likelihoods/expression.hpp"
#include "covary/models/autoregression.hpp"
#include "covary/models/run.hpp"
#include "models/roles.hpp"
#include "models/words.hpp"

namespace covary {
namespace {

bool is_count(const std::string& text) {
  return !text.empty() &&
         std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

std::vector<std::string> labels(const Table& table, Index column) {
  if (table.is_text(column)) return table.text[static_cast<std::size_t>(column)];
  std::vector<std::string> out;
  for (Index i = 0; i < table.rows(); ++i)
    out.push_back(fmt::format("{}", table.values(i, column)));
  return out;
}

// With --lags: the targets as series, whose windows are the rows to train on.
ModelData read_windows(const Table& table, const FitOptions& o, const Tell& tell) {
  if (!o.inputs.empty() || !o.noise.empty() || !o.exposure.empty() || !o.weights.empty())
    throw Unsupported(
        "--lags takes the inputs from the targets: it cannot be combined with --inputs, --noise, "
        "--exposure or --weights");
  if (o.likelihood != "auto" && !is_plain_gaussian(o.likelihood))
    throw Unsupported(fmt::format("--lags is for Gaussian regression, not {}", o.likelihood));
  ModelData d;
  const auto targets = select_columns(table, split_lists(o.target));
  for (const Index j : targets) d.output_names.push_back(table.names[static_cast<std::size_t>(j)]);
  const RowMatrix series = numeric_columns(table, targets);
  if (o.missing == "error" && series.array().isNaN().any())
    throw InputError("the series have missing values; --missing model skips their windows");
  LagWindows windows = lag_windows(series, o.lags);
  d.X = std::move(windows.X);
  d.Y = std::move(windows.Y);
  for (const auto& name : LagWindows::names(d.output_names, o.lags))
    d.inputs.columns.push_back({name, {}});
  const Index most = series.rows() - o.lags;
  const auto keep =
      kept_rows(d.X, d.Y, o.missing, [](Index i) { return fmt::format("window {} has gaps", i); });
  if (static_cast<Index>(keep.size()) < most)
    tell(fmt::format("skipping {} of {} windows with missing values",
                     most - static_cast<Index>(keep.size()), most));
  return static_cast<Index>(keep.size()) == d.X.rows() ? d : d.rows(keep);
}

}  // namespace

ModelData ModelData::rows(const std::vector<Index>& numbers) const {
  ModelData out = *this;
  out.X = take_rows(X, numbers);
  out.Y = take_rows(Y, numbers);
  if (input_variance.size()) out.input_variance = take_rows(input_variance, numbers);
  for (Vector* column : {&out.noise, &out.aux, &out.weights})
    if (column->size()) *column = Vector((*column)(numbers));
  out.fold_labels.clear();
  for (const Index i : numbers)
    if (!fold_labels.empty()) out.fold_labels.push_back(fold_labels[static_cast<std::size_t>(i)]);
  return out;
}

constexpr double largest_value = 1e150;  // variances are squares

void refuse_infinities(const RowMatrix& values, const std::vector<std::string>& names,
                       const Table& table) {
  for (Index i = 0; i < values.rows(); ++i)
    for (Index j = 0; j < values.cols(); ++j)
      if (const double v = values(i, j); std::abs(v) > largest_value)
        throw InputError(fmt::format(
            "column '{}' is {} in {}; drop the row, leave the cell empty or use another unit",
            names[static_cast<std::size_t>(j)],
            std::isinf(v) ? "infinite" : fmt::format("{:.3g}, too large to square,", v),
            table.where(i)));
}

namespace {

// With two classes, where they are still to be counted; nothing for auto.
std::optional<Likelihood> said(const std::string& expression) {
  if (expression == "auto") return std::nullopt;
  return Likelihood(with_classes(expression, 2).value_or(expression));
}

}  // namespace

void check_likelihood(const std::string& expression) { static_cast<void>(said(expression)); }

bool is_of_classes(const std::string& expression) {
  const auto likelihood = said(expression);
  return likelihood && likelihood->classes() > 0;
}

bool is_plain_gaussian(const std::string& expression) {
  const auto likelihood = said(expression);
  return likelihood && likelihood->is_plain_gaussian();
}

Likelihood likelihood_of(const std::string& expression, const Labels& labels,
                         const std::string& target, const Tell& tell) {
  const Index K = labels.classes();
  std::string chosen = expression;
  constexpr Index most = 50;  // more are seldom meant
  if (expression == "auto" && K > most) {
    throw InputError(fmt::format(
        "target '{}' is text of {} different values, such as '{}' and '{}': if they are numbers, "
        "write them alike; if they are classes, say --likelihood softmax",
        target, K, labels.names.front(), labels.names.back()));
  } else if (expression == "auto") {
    chosen = K == 2 ? "bernoulli" : fmt::format("softmax({})", K);
    tell(
        fmt::format("target '{}' is text of {} classes ({}): classification with "
                    "--likelihood {}",
                    target, K, fmt::join(labels.names, ", "), chosen));
  } else if (const auto counted = with_classes(expression, K)) {
    chosen = *counted;
  }
  Likelihood out(chosen);
  if (out.classes() != K)
    throw InputError(fmt::format("target '{}' has {} classes ({}), {} has {}; use {}", target, K,
                                 fmt::join(labels.names, ", "), out.print(), out.classes(),
                                 K == 2 ? "--likelihood bernoulli" : "--likelihood softmax"));
  return out;
}

namespace {

// Text with a value of its own in most rows tells rows apart and says nothing of others.
bool is_identifier(const Table& table, Index column) {
  constexpr std::size_t few = 10;
  if (!table.is_text(column)) return false;
  const auto& cells = table.text[static_cast<std::size_t>(column)];
  std::set<std::string> values(cells.begin(), cells.end());
  values.erase("");
  const auto observed = cells.size() - static_cast<std::size_t>(
                                           std::count(cells.begin(), cells.end(), std::string()));
  return values.size() > few && 2 * values.size() > observed;
}

void refuse_unclear(const Table& table, const std::vector<Index>& columns) {
  if (table.unclear.empty()) return;
  for (const Index j : columns)
    if (const auto asks = table.unclear.find(table.names[static_cast<std::size_t>(j)]);
        asks != table.unclear.end())
      throw InputError(asks->second);
}

}  // namespace

std::map<std::string, double> circular_inputs(const Table& table, const FitOptions& o,
                                              const std::vector<Index>& inputs) {
  std::map<std::string, double> out;
  for (const auto& given : o.circular) {
    const auto [column, period] = split_assignment(given, "--circular");
    const Index j = select_columns(table, {column}).front();
    const std::string& name = table.names[static_cast<std::size_t>(j)];
    const auto values = parse_numbers(period, "--circular " + column);
    if (values.size() != 1 || !(values[0] > 0.0) || !std::isfinite(values[0]))
      throw InputError(fmt::format("--circular {}: the period must be a positive number, got '{}'",
                                   column, period));
    if (!std::count(inputs.begin(), inputs.end(), j))
      throw InputError(fmt::format("--circular {}: the column is not an input", name));
    if (table.is_text(j))
      throw InputError(fmt::format("--circular {}: the column holds text", name));
    out[name] = values[0];
  }
  return out;
}

CellFormats formats_of(const Table& table, const InputColumns& inputs,
                       const std::vector<std::string>& outputs) {
  CellFormats out;
  const auto take = [&](const std::string& name) {
    if (const auto at = table.formats.find(name); at != table.formats.end()) out.insert(*at);
  };
  for (const auto& column : inputs.columns) take(column.name);
  for (const auto& name : outputs) take(name);
  return out;
}

TableOptions table_options(const FitOptions& o) {
  TableOptions out{.header = parse_header(o.header)};
  out.dates = parse_cell_format(o.dates);
  out.decimal = parse_cell_format(o.decimal);
  return out;
}

TableOptions table_options(const FitRecord& fit) {
  TableOptions out{.formats = fit.formats};
  for (const auto& column : fit.input_columns.columns)
    if (!column.levels.empty()) out.formats[column.name] = CellFormat::text;
  return out;
}

Roles find_roles(const Table& table, const FitOptions& o, const Tell& tell) {
  Roles r;
  r.targets = select_columns(table, split_lists(o.target));
  if (!o.noise.empty()) r.noise = select_columns(table, {o.noise});
  if (!o.input_variance.empty())
    r.input_variance = select_columns(table, split_lists(o.input_variance));
  if (!o.exposure.empty()) r.exposure = select_columns(table, {o.exposure});
  if (!o.weights.empty()) r.weights = select_columns(table, {o.weights});
  if (!o.folds.empty() && !is_count(o.folds)) r.folds = select_columns(table, {o.folds});
  std::vector<Index> taken = r.targets;
  for (const auto* more : {&r.noise, &r.exposure, &r.weights, &r.folds, &r.input_variance})
    taken.insert(taken.end(), more->begin(), more->end());
  if (o.inputs.empty()) {
    const std::set<Index> others(taken.begin(), taken.end());
    for (Index j = 0; j < table.cols(); ++j) {
      const std::string& name = table.names[static_cast<std::size_t>(j)];
      if (others.count(j)) continue;
      if (!table.unclear.count(name) && is_identifier(table, j)) {
        if (tell)
          tell(
              fmt::format("ignoring column '{}': text with a value of its own in most rows; name "
                          "it with --inputs to use it",
                          name));
        continue;
      }
      r.inputs.push_back(j);
    }
  } else {
    r.inputs = select_columns(table, split_lists(o.inputs));
    for (const Index j : r.inputs)
      if (std::count(taken.begin(), taken.end(), j))
        throw InputError(fmt::format("column '{}' cannot be an input as well",
                                     table.names[static_cast<std::size_t>(j)]));
  }
  if (r.inputs.empty()) throw InputError("no input columns remain; at least one is needed");
  refuse_unclear(table, r.targets);
  refuse_unclear(table, r.inputs);
  return r;
}

std::string missing_cell(const Table& table, const std::vector<Index>& columns, Index row) {
  for (const Index j : columns) {
    const auto k = static_cast<std::size_t>(j);
    if (table.is_text(j) ? table.text[k][static_cast<std::size_t>(row)].empty()
                         : std::isnan(table.values(row, j)))
      return fmt::format("{} has no value in column '{}'", table.where(row), table.names[k]);
  }
  return fmt::format("{} has a missing value", table.where(row));
}

CellName cell_name(const Table& table, const Roles& roles) {
  auto columns = roles.inputs;
  columns.insert(columns.end(), roles.targets.begin(), roles.targets.end());
  return [&table, columns](Index row) { return missing_cell(table, columns, row); };
}

std::vector<Index> kept_rows(ConstRows X, ConstRows Y, const std::string& policy,
                             const CellName& cell) {
  std::vector<Index> keep;
  for (Index i = 0; i < X.rows(); ++i) {
    const bool x_missing = X.row(i).array().isNaN().any();
    const bool y_missing = Y.row(i).array().isNaN().any();
    const bool y_empty = Y.row(i).array().isNaN().all();
    if (policy == "error" && (x_missing || y_missing))
      throw InputError(cell(i) + "; use --missing drop or --missing model");
    if (policy == "model" && x_missing)
      throw InputError(cell(i) +
                       ", which is an input; drop such rows with --missing drop, or learn what is "
                       "missing with --missing learn");
    if (policy == "drop" ? !(x_missing || y_missing) : !y_empty) keep.push_back(i);
  }
  return keep;
}

void tell_left_out(Index kept, Index all, const std::string& policy, const Tell& tell) {
  if (kept < all)
    tell(fmt::format("skipping {} of {} rows: {}", all - kept, all,
                     policy == "drop" ? "they have missing values" : "no output is observed"));
}

void check_outputs(const RowMatrix& Y, const std::vector<std::string>& names, const Table& table) {
  refuse_infinities(Y, names, table);
  for (Index j = 0; j < Y.cols(); ++j)
    if (Y.col(j).array().isNaN().all())
      throw InputError(fmt::format("column '{}' has no values; fill it in or leave it out",
                                   names[static_cast<std::size_t>(j)]));
}

namespace {

// Gaussian regression, unless the target or the call says otherwise. Targets that are classes
// become their numbers.
void read_targets(const Table& table, const Roles& r, const FitOptions& o, ModelData& d,
                  const Tell& tell) {
  const bool text =
      std::any_of(r.targets.begin(), r.targets.end(), [&](Index j) { return table.is_text(j); });
  const std::string& expression = o.likelihood;
  if (is_plain_gaussian(expression) || (expression == "auto" && !text)) {
    if (!r.exposure.empty())
      throw InputError("--exposure is for counts; say --likelihood poisson, binomial, …");
    d.Y = numeric_columns(table, r.targets);
    if (!r.weights.empty()) d.weights = numeric_columns(table, r.weights).col(0);
    return;
  }
  const bool of_classes = expression == "auto" || is_of_classes(expression);
  if (of_classes && r.targets.size() != 1)
    throw InputError(fmt::format("{} targets were given; a model of likelihood {} takes one",
                                 r.targets.size(),
                                 expression == "auto" ? "bernoulli or softmax" : expression));
  const Index target = r.targets.front();
  const std::string& name = table.names[static_cast<std::size_t>(target)];
  if (of_classes) {
    d.labels = Labels::from(table, target);
    d.likelihood = likelihood_of(expression, d.labels, name, tell);
    d.Y = d.labels.encode(table, target);
  } else {
    d.likelihood = Likelihood(expression);
    d.Y = numeric_columns(table, r.targets);
  }
  if (!r.exposure.empty()) d.aux = numeric_columns(table, r.exposure).col(0);
  if (!r.weights.empty()) d.weights = numeric_columns(table, r.weights).col(0);
}

}  // namespace

ModelData read_data(const Table& table, const FitOptions& o, const Tell& tell) {
  if (o.lags > 0) return read_windows(table, o, tell);
  const Roles r = find_roles(table, o, tell);
  ModelData d;
  std::vector<std::string> notes;
  d.inputs = InputColumns::from(table, r.inputs, &notes, circular_inputs(table, o, r.inputs));
  for (const auto& note : notes) tell(note);
  d.X = d.inputs.apply(table);
  read_targets(table, r, o, d, tell);
  if (!r.noise.empty()) d.noise = numeric_columns(table, r.noise).col(0);
  if (!r.input_variance.empty()) d.input_variance = numeric_columns(table, r.input_variance);
  if (!r.folds.empty()) d.fold_labels = labels(table, r.folds.front());
  for (const Index j : r.targets)
    d.output_names.push_back(table.names[static_cast<std::size_t>(j)]);

  d.formats = formats_of(table, d.inputs, d.output_names);

  refuse_infinities(d.X, d.inputs.names(), table);
  check_outputs(d.Y, d.output_names, table);
  const auto keep = kept_rows(d.X, d.Y, o.missing, cell_name(table, r));
  if (o.gplvm > 0 && o.missing == "model") {
    if (static_cast<Index>(keep.size()) < d.X.rows())
      tell(fmt::format("{} of {} rows have no target: only the GP-LVM uses them",
                       d.X.rows() - static_cast<Index>(keep.size()), d.X.rows()));
    return d;
  }
  tell_left_out(static_cast<Index>(keep.size()), d.X.rows(), o.missing, tell);
  if (static_cast<Index>(keep.size()) == d.X.rows()) return d;
  return d.rows(keep);
}

}  // namespace covary
