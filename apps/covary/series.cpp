#include "series.hpp"

#include <fmt/format.h>

#include "covary/data/columns.hpp"
#include "covary/error.hpp"
#include "options.hpp"

namespace covary::cli {

TrainingData training_windows(const Table& table, const TrainingArguments& a,
                              const Common& common) {
  if (!a.inputs.empty() || !a.noise.empty() || !a.exposure.empty() || !a.weights.empty())
    throw Unsupported(
        "--lags makes the inputs from the targets' past: --inputs, --noise, --exposure and "
        "--weights cannot be given with it");
  if (a.likelihood != "auto" && a.likelihood != "gaussian")
    throw Unsupported(fmt::format("--lags is for Gaussian regression, not {}", a.likelihood));
  TrainingData d;
  const auto targets = select_columns(table, split_lists(a.target));
  for (const Index j : targets) d.output_names.push_back(table.names[static_cast<std::size_t>(j)]);
  const RowMatrix series = numeric_columns(table, targets);
  if (a.missing == "error" && series.array().isNaN().any())
    throw InputError("the series have missing values; --missing model skips their windows");
  LagWindows windows = lag_windows(series, a.lags);
  d.X = std::move(windows.X);
  d.Y = std::move(windows.Y);
  for (const auto& name : lag_names(d.output_names, a.lags)) d.inputs.columns.push_back({name, {}});
  const Index most = series.rows() - a.lags;
  const auto keep = kept_rows(d.X, d.Y, a.missing, 0);
  if (static_cast<Index>(keep.size()) < most)
    tell(common, fmt::format("skipping {} of {} windows with missing values",
                             most - static_cast<Index>(keep.size()), most));
  return static_cast<Index>(keep.size()) == d.X.rows() ? d : d.rows(keep);
}

ScoredRows scored_rows(const SavedModel& m, const Table& table) {
  const RowMatrix Y = numeric_columns(table, select_columns(table, m.fit.output_names));
  const Index lags = lags_of(m.fit);
  if (lags == 0) return {m.inputs.apply(table), Y};
  LagWindows windows = lag_windows(Y, lags);
  return {std::move(windows.X), std::move(windows.Y)};
}

void add_step_options(CLI::App& sub, StepArguments& a) {
  OptionAdder add(sub, "predict");
  add("steps", a.steps)->check(at_least_one());
  add("propagation", a.propagation)
      ->check(CLI::IsMember({"moments", "augmented", "plug-in", "draws"}))
      ->capture_default_str();
  add("draws", a.draws.draws)->check(at_least_one())->capture_default_str();
  add("seed", a.draws.seed)->capture_default_str();
}

Outcome predict_steps(const SavedModel& m, const DataArguments& data, const StepArguments& a,
                      const Common& common) {
  if (lags_of(m.fit) == 0)
    throw InputError("--steps needs a model trained with fit --lags; this one has other inputs");
  const Table table = read_table(data.data, table_options(data, m.inputs));
  const RowMatrix series = numeric_columns(table, select_columns(table, m.fit.output_names));
  const Prediction p = simulate(m.fit, series, a.steps, parse_propagation(a.propagation), a.draws);
  std::vector<std::string> names{"step"};
  const Index P = p.mean.cols();
  RowMatrix values(a.steps, 1 + 5 * P);
  values.col(0) = Vector::LinSpaced(a.steps, 1.0, static_cast<double>(a.steps));
  for (Index k = 0; k < P; ++k) {
    const Vector half = normal_975 * p.variance_y.col(k).array().sqrt();
    values.middleCols(1 + 5 * k, 5) << p.mean.col(k), p.variance_y.col(k), p.variance_f.col(k),
        p.mean.col(k) - half, p.mean.col(k) + half;
    for (const char* name : {"mean", "variance", "variance_f", "lower", "upper"})
      names.push_back(name + output_suffix(m, k));
  }
  return give_table(data, names, values, "steps", common);
}

}  // namespace covary::cli
