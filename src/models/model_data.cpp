#include "covary/models/model_data.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "covary/data/columns.hpp"
#include "covary/data/split.hpp"
#include "covary/error.hpp"
#include "covary/likelihoods/expression.hpp"
#include "covary/models/autoregression.hpp"
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
  for (const auto& name : lag_names(d.output_names, o.lags)) d.inputs.columns.push_back({name, {}});
  const Index most = series.rows() - o.lags;
  const auto keep = kept_rows(d.X, d.Y, o.missing, 0);
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

void refuse_infinities(const RowMatrix& values, const std::vector<std::string>& names) {
  for (Index i = 0; i < values.rows(); ++i)
    for (Index j = 0; j < values.cols(); ++j)
      if (const double v = values(i, j); std::abs(v) > largest_value)
        throw InputError(fmt::format(
            "row {} of column '{}' is {}; drop the row, leave the cell empty or use another unit",
            i, names[static_cast<std::size_t>(j)],
            std::isinf(v) ? "infinite" : fmt::format("{:.3g}, too large to square", v)));
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
  if (expression == "auto") {
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

Roles find_roles(const Table& table, const FitOptions& o) {
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
    for (Index j = 0; j < table.cols(); ++j)
      if (!std::count(taken.begin(), taken.end(), j)) r.inputs.push_back(j);
  } else {
    r.inputs = select_columns(table, split_lists(o.inputs));
    for (const Index j : r.inputs)
      if (std::count(taken.begin(), taken.end(), j))
        throw InputError(fmt::format("column '{}' cannot be an input as well",
                                     table.names[static_cast<std::size_t>(j)]));
  }
  if (r.inputs.empty()) throw InputError("no input columns remain; at least one is needed");
  return r;
}

std::vector<Index> kept_rows(ConstRows X, ConstRows Y, const std::string& policy, Index first) {
  std::vector<Index> keep;
  for (Index i = 0; i < X.rows(); ++i) {
    const bool x_missing = X.row(i).array().isNaN().any();
    const bool y_missing = Y.row(i).array().isNaN().any();
    const bool y_empty = Y.row(i).array().isNaN().all();
    if (policy == "error" && (x_missing || y_missing))
      throw InputError(fmt::format(
          "row {} has a missing value; use --missing drop or --missing model", first + i));
    if (policy == "model" && x_missing)
      throw InputError(fmt::format(
          "row {} has a missing input; drop such rows with --missing drop, or learn what "
          "is missing with --missing learn",
          first + i));
    if (policy == "drop" ? !(x_missing || y_missing) : !y_empty) keep.push_back(i);
  }
  return keep;
}

void tell_left_out(Index kept, Index all, const std::string& policy, const Tell& tell) {
  if (kept < all)
    tell(fmt::format("skipping {} of {} rows: {}", all - kept, all,
                     policy == "drop" ? "they have missing values" : "no output is observed"));
}

void check_outputs(const RowMatrix& Y, const std::vector<std::string>& names) {
  refuse_infinities(Y, names);
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
  const Roles r = find_roles(table, o);
  ModelData d;
  std::vector<std::string> notes;
  d.inputs = InputColumns::from(table, r.inputs, &notes);
  for (const auto& note : notes) tell(note);
  d.X = d.inputs.apply(table);
  read_targets(table, r, o, d, tell);
  if (!r.noise.empty()) d.noise = numeric_columns(table, r.noise).col(0);
  if (!r.input_variance.empty()) d.input_variance = numeric_columns(table, r.input_variance);
  if (!r.folds.empty()) d.fold_labels = labels(table, r.folds.front());
  for (const Index j : r.targets)
    d.output_names.push_back(table.names[static_cast<std::size_t>(j)]);

  refuse_infinities(d.X, d.inputs.names());
  check_outputs(d.Y, d.output_names);
  const auto keep = kept_rows(d.X, d.Y, o.missing, 0);
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
