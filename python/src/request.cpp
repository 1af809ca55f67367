// A model by its name in the table, trained on a table: what the command line does.
#include <fmt/format.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "bindings.hpp"
#include "covary/models/progress_line.hpp"
#include "covary/models/run.hpp"
#include "covary/models/table_json.hpp"
#include "fit.hpp"
#include "tables.hpp"
#include "watch.hpp"

namespace covary::python {
namespace {

using namespace nb::literals;

TrainingArguments arguments_of(const nb::object& callback, const nb::object& progress,
                               const FitOptions& o) {
  TrainingArguments a;
  a.restarts = o.restarts;
  a.max_iter = o.max_iter;
  a.callback = callback;
  a.progress = progress;
  a.resume = o.resume;
  if (!o.checkpoint.empty()) a.checkpoint = nb::cast(o.checkpoint);
  return a;
}

// What is around a training here: a Watch, and lines where they are asked for.
class PythonSession : public FitSession {
 public:
  PythonSession(const TrainingArguments& a, bool verbose)
      : keeps_(!a.checkpoint.is_none()), verbose_(verbose) {
    TrainingOptions training;
    a.apply(training);
    watch_.emplace(a, training, std::max<Index>(1, a.restarts));
  }
  void attach(TrainingOptions& training) override {
    watch_->attach(training);
    if (!verbose_) return;
    training.after_iteration = [this, show = training.after_iteration](const auto& now) {
      if (show) show(now);
      if (!now.over && (now.adam || now.run)) print(now);
    };
  }
  bool keeps() const override { return keeps_; }
  TrainingState resume(const std::string& problem) override { return watch_->resume(problem); }
  void begin(double shift) override {
    shift_ = shift;
    watch_->shift_by(shift);
  }
  Watch& watch() { return *watch_; }

 private:
  void print(const TrainingProgress& now) const {
    const nb::gil_scoped_acquire acquire;
    nb::module_::import_("builtins")
        .attr("print")(progress_line(now, shift_),
                       "file"_a = nb::module_::import_("sys").attr("stderr"));
  }

  bool keeps_, verbose_;
  std::optional<Watch> watch_;
  double shift_ = 0.0;
};

// As the command line would have it: lists are repeated options or one with commas.
void take(FitOptions& options, const std::string& name, nb::handle value) {
  if (value.is_none()) return;
  if (name == "from_") return take(options, "from", value);
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

bool is_path(nb::handle data) {
  return nb::isinstance<nb::str>(data) || nb::hasattr(data, "__fspath__");
}

nb::object parsed(const std::string& json) {
  return nb::module_::import_("json").attr("loads")(json);
}

nb::object fit_any(const nb::object& data, const std::string& model, const nb::object& callback,
                   const std::optional<bool>& progress, const nb::kwargs& given) {
  FitOptions options;
  set_option(options, "model", model);
  for (const auto& [name, value] : given) take(options, nb::cast<std::string>(name), value);
  const TrainingRows rows = is_path(data) ? TrainingRows(nb::cast<std::string>(nb::str(data)))
                                          : TrainingRows(to_table(data, table_options(options)));
  FitRun run = unlocked([&] { return FitRun(rows, options, tell); });
  PythonSession session(arguments_of(callback, nb::cast(progress), options), options.verbose);
  const Fit fit = session.watch().run_with([&] { return run.train(session); });
  nb::object out = to_python(fit);
  if (const auto scores = unlocked([&] { return run.cross_validate(); }))
    out.attr("cross_validation") = parsed(scores->answer().json);
  return out;
}

nb::list table_of_models() {
  nb::list out;
  for (const ModelEntry& e : model_table()) out.append(parsed(as_json(e)));
  return out;
}

constexpr const char* doc = R"doc(Trains a model by its name on a table, as ``covary fit`` does.

``data`` is a pandas table, an array or the path of a file. ``options`` are those of ``covary fit``, with _ for
-; ``covary models NAME`` lists those that the model reads. ``set``, ``prior``, ``bounds`` and ``tie`` may be dicts.
``from_`` is --from. Returns a ``Fit`` of the model's own class; with ``folds`` its ``cross_validation`` has the
scores. Notes go to the logger 'covary'. An option that the model does not read is refused.

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
        "The table of models, as ``covary models --json`` prints it: a dict each, with name, use, "
        "cost, "
        "capabilities and the options of each verb.",
        nb::sig("def models() -> list[dict]"));
}

}  // namespace covary::python
