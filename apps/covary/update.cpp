#include <fmt/format.h>

#include "cost.hpp"
#include "covary/data/columns.hpp"
#include "covary/data/split.hpp"
#include "covary/error.hpp"
#include "data_arguments.hpp"
#include "describe.hpp"
#include "options.hpp"

namespace covary::cli {
namespace {

struct UpdateArguments {
  DataArguments data;
  std::string noise;
  bool in_place = false;
};

std::vector<std::string> outputs_of(const SavedModel& m) { return m.fit.output_names; }
std::vector<std::string> outputs_of(const SavedGeneralised& m) { return {m.fit.output_name}; }
Index rows_of(const SavedModel& m) { return m.fit.posterior.rows(); }
Index rows_of(const SavedGeneralised& m) { return m.fit.rows; }
double value_of(const SavedModel& m) { return m.fit.log_marginal_likelihood; }
double value_of(const SavedGeneralised& m) { return m.fit.value; }

template <class Saved>
Outcome update(Saved m, const UpdateArguments& a, const Common& common) {
  const Table table = read_table(a.data.data, table_options(a.data, m.inputs));
  const bool exact = m.fit.posterior.can(Capability::exact_evidence);
  const bool noisy = exact ? m.fit.posterior.point_noise().size() > 0 : !a.noise.empty();
  if (noisy == a.noise.empty())
    throw InputError(noisy ? "the model was trained with noise variances of the rows; name their "
                             "column with --noise"
                           : "the model was trained without noise variances of the rows; leave "
                             "--noise out");
  RowMatrix X = m.inputs.apply(table);
  RowMatrix Y = numeric_columns(table, select_columns(table, outputs_of(m)));
  Vector noise;
  if (noisy) noise = numeric_columns(table, select_columns(table, {a.noise})).col(0);
  std::vector<Index> keep;
  for (Index i = 0; i < Y.rows(); ++i)
    if (!Y.row(i).array().isNaN().all()) keep.push_back(i);
  if (keep.empty()) throw InputError("no row has an observed output; there is nothing to add");
  const Index left_out = Y.rows() - static_cast<Index>(keep.size());
  if (left_out > 0)
    tell(common, fmt::format("skipping {} of {} rows: no output is observed", left_out, Y.rows()));
  X = take_rows(X, keep);
  Y = take_rows(Y, keep);
  if (noisy) noise = Vector(noise(keep));

  const Index before = rows_of(m), after = before + X.rows();
  const double n = static_cast<double>(after);
  if (exact) require_memory(16.0 * n * n, after, fmt::format("exact regression of {} rows", after));
  if constexpr (std::is_same_v<Saved, SavedModel>)
    m.fit = m.fit.with(X, Y, noise);
  else
    m.fit = m.fit.with(X, Y.col(0), noise);
  m.fit.summary.warnings.push_back(
      fmt::format("{} rows were added after training, with the parameters as they were", X.rows()));
  const std::string& file = a.in_place ? a.data.model : a.data.out;
  save_model(file, m);
  Outcome out{describe_json(m), "", 0};
  out.object["file"] = file;
  out.object["added"] = X.rows();
  out.text = fmt::format("{} rows added to {}: the model has {} and is in {}\n{} {:.6g}\n",
                         X.rows(), before, after, file,
                         exact ? "log evidence" : m.fit.summary.objective, value_of(m));
  return out;
}

Outcome run_update(const UpdateArguments& a, const Common& common) {
  if (a.data.out.empty() == !a.in_place)
    throw InputError("give either --out FILE for the new model or --in-place to replace the old");
  check_folder(a.data.out);
  AnyModel model = load_any_model(a.data.model);
  if (auto* m = std::get_if<SavedGeneralised>(&model)) return update(std::move(*m), a, common);
  return update(regression_in(std::move(model), a.data.model), a, common);
}

}  // namespace

void add_update(CLI::App& app, std::vector<std::unique_ptr<Verb>>& verbs) {
  auto* sub = app.add_subcommand("update", "Condition a fitted model on further rows");
  auto a = std::make_shared<UpdateArguments>();
  auto verb = std::make_unique<Verb>();
  add_data_options(*sub, a->data, "update", "Table with the model's input and output columns");
  OptionAdder add(*sub, "update");
  add("noise", a->noise);
  add("out", a->data.out);
  add("in-place", a->in_place);
  sub->footer("Example:\n  covary update model.cov test.csv --out updated.cov");
  add_common(*sub, verb->common);
  verb->app = sub;
  verb->run = [a](const Common& common) { return run_update(*a, common); };
  verbs.push_back(std::move(verb));
}

}  // namespace covary::cli
