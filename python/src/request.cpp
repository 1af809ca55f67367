// A model by its name in the table, trained on a table: what the command line does.
#include <fmt/format.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "bindings.hpp"
#include "covary/error.hpp"
#include "covary/models/checkpoint.hpp"
#include "covary/models/checkpointing.hpp"
#include "covary/models/model_choice.hpp"
#include "covary/models/request.hpp"
#include "fit.hpp"
#include "tables.hpp"
#include "watch.hpp"

#include <filesystem>

namespace covary::python {
namespace {

using namespace nb::literals;

// What is around a training here: Ctrl-C, the caller's function, the bar and a checkpoint.
class PythonSession : public FitSession {
 public:
  PythonSession(nb::object callback, nb::handle progress, const FitOptions& options)
      : options_(options), checkpointing_(options.checkpoint) {
    TrainingOptions training;
    training.max_iterations = options.max_iter;
    watch_.emplace(std::move(callback), progress, training, std::max<Index>(1, options.restarts),
                   0.0);
  }
  void attach(TrainingOptions& training) override {
    watch_->attach(training);
    if (!keeps()) return;
    training.after_iteration = [this, show = training.after_iteration](const auto& now) {
      if (show) show(now);
      checkpointing_.keep(now);
    };
  }
  bool keeps() const override { return !options_.checkpoint.empty(); }
  TrainingState resume(const std::string& problem) override {
    checkpointing_.problem = problem;
    const std::string& file = options_.checkpoint;
    if (!options_.resume || !std::filesystem::exists(file)) return {};
    return load_checkpoint(file, problem);
  }
  void begin(double shift) override { watch_->shift_by(shift); }
  Watch& watch() { return *watch_; }

 private:
  FitOptions options_;
  Checkpointing checkpointing_;
  std::optional<Watch> watch_;
};

// As the command line would have it: lists are repeated options or one with commas.
void take(FitOptions& options, const std::string& name, nb::handle value) {
  if (value.is_none()) return;
  if (nb::isinstance<nb::bool_>(value)) {
    set_option(options, name, nb::cast<bool>(value) ? "yes" : "no");
  } else if (nb::isinstance<nb::list>(value) || nb::isinstance<nb::tuple>(value)) {
    for (nb::handle one : value) set_option(options, name, nb::cast<std::string>(nb::str(one)));
  } else if (nb::isinstance<nb::dict>(value)) {  // set={"kernel.variance": 2}
    for (const auto& [path, one] : nb::cast<nb::dict>(value)) {
      std::string text = nb::cast<std::string>(nb::str(path)) + "=";
      if (nb::isinstance<nb::list>(one) || nb::isinstance<nb::tuple>(one))
        text += nb::cast<std::string>(nb::str(",").attr("join")(
            nb::module_::import_("builtins").attr("map")(nb::type<nb::str>(), one)));
      else
        text += nb::cast<std::string>(nb::str(one));
      set_option(options, name, text);
    }
  } else {
    set_option(options, name, nb::cast<std::string>(nb::str(value)));
  }
}

nb::object fit_any(const nb::object& data, const std::string& model, const nb::object& callback,
                   const std::optional<bool>& progress, const nb::kwargs& given) {
  FitOptions options;
  set_option(options, "model", model);
  for (const auto& [name, value] : given) take(options, nb::cast<std::string>(name), value);
  const ModelChoice choice(options);
  choice.check();
  if (choice.has_inputs() && options.target.empty())
    throw InputError("fit needs the name of the target column: target='y'");
  const Table table = nb::isinstance<nb::str>(data) || nb::hasattr(data, "__fspath__")
                          ? read_table(nb::cast<std::string>(nb::str(data)))
                          : to_table(data);
  const Tell quiet = [](const std::string&) {};
  FitRequest request = prepare(choice, options, read_for(choice, table, options, quiet), quiet);
  if (!options.from.empty()) request.from = load(options.from)->parameters;
  PythonSession session(callback, nb::cast(progress), options);
  request.session = &session;
  const Fit fit = session.watch().run_with([&] { return request.entry->make(request); });
  if (!options.out.empty()) fit.save(options.out);
  return to_python(fit);
}

nb::list table_of_models() {
  nb::list out;
  for (const ModelEntry& e : model_table()) {
    nb::dict row;
    nb::list can_do;
    for (const ModelCapability& c : model_capabilities())
      if (can(e, c)) can_do.append(c.name);
    nb::list options;
    for (const FitOption& o : fit_options())
      if (e.reads("fit", o.name)) options.append(o.name);
    row["name"] = e.name;
    row["label"] = e.label();
    row["sentence"] = e.sentence;
    row["use"] = e.use;
    row["time"] = e.time;
    row["memory"] = e.memory;
    row["capabilities"] = can_do;
    row["options"] = options;
    out.append(row);
  }
  return out;
}

constexpr const char* doc = R"doc(Trains a model by its name on a table, as ``covary fit`` does.

``data`` is a pandas table, an array or the path of a file. ``options`` are those of ``covary fit``, with _ for
-; ``covary models NAME`` lists those that the model reads. ``set``, ``prior``, ``bounds`` and ``tie`` may be dicts.
Returns a ``Fit`` of the model's own class.

>>> import numpy as np, covary as cv
>>> x = np.linspace(0, 1, 50)
>>> data = np.column_stack([x, np.sin(6 * x)])
>>> fit = cv.fit(data, "vfe", target="c1", inducing=8, max_iter=50, set={"likelihood.variance": 0.01})
>>> fit.model, bool(fit.evaluate(data)["rmse"] < 0.01)
('vfe', True)
)doc";

}  // namespace

void bind_request(nb::module_& m) {
  m.def("fit", fit_any, "data"_a, "model"_a = "auto", "callback"_a = nb::none(),
        "progress"_a = nb::none(), "options"_a, doc);
  m.def("models", table_of_models,
        "The table of models: a dict each, with name, use, cost, capabilities and options.",
        nb::sig("def models() -> list[dict]"));
}

}  // namespace covary::python
