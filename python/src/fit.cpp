// What the fits of all models have in Python. They are immutable, so every call may release the
// interpreter's lock.
#include "fit.hpp"

#include <fmt/format.h>
#include <nanobind/stl/filesystem.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <type_traits>

#include "bindings.hpp"
#include "covary/data/file.hpp"
#include "covary/error.hpp"
#include "covary/models/compress.hpp"
#include "covary/models/model_choice.hpp"
#include "covary/models/question_options.hpp"
#include "covary/report/fit_report.hpp"
#include "parameters.hpp"
#include "tables.hpp"
#include "unlocked.hpp"

namespace covary::python {
namespace {

using namespace nb::literals;

nb::object parsed(const std::string& json) {
  return nb::module_::import_("json").attr("loads")(json);
}

nb::dict standard_errors(const FitNode& fit) {
  nb::dict out;
  Index free = 0;
  if (fit.standard_errors.size() == 0) return out;
  for (const Parameter& p : fit.parameters.all())
    if (p.trainable && p.tied_to.empty()) {
      out[p.path.c_str()] = to_python(p, fit.standard_errors.segment(free, p.value.size()));
      free += p.value.size();
    }
  return out;
}

std::string what(const FitNode& fit) {
  const std::string text = fit.details().text;
  return text.substr(0, text.find('\n'));
}

// Its value with its name: a lower bound is not called the evidence.
std::string describe_value(const FitNode& fit) {
  return fmt::format("{} {:.6g}", fit.summary.objective, fit.value);
}

template <class Value>
Value cast_to(const std::string& name, nb::handle value) {
  try {
    return nb::cast<Value>(value);
  } catch (const nb::cast_error&) {
    throw InputError(
        fmt::format("{} cannot be {}", name, nb::cast<std::string>(nb::str(nb::repr(value)))));
  }
}

TableQuestion question_of(const FitNode& fit, const std::string& verb, const nb::kwargs& options) {
  TableQuestion q;
  std::vector<std::string> given;
  for (const auto& [key, value] : options) {
    const auto written = nb::cast<std::string>(key);
    std::string name = written;
    std::replace(name.begin(), name.end(), '_', '-');
    std::visit(
        [&, &value = value](auto member) {
          using Value = std::decay_t<decltype(q.*member)>;
          if constexpr (std::is_same_v<Value, std::vector<std::string>>)
            if (nb::isinstance<nb::str>(value)) {
              (q.*member).push_back(nb::cast<std::string>(value));
              return;
            }
          q.*member = cast_to<Value>(written, value);
        },
        question_option(verb, name).member);
    given.push_back(std::move(name));
  }
  check_options(verb, given, fit);
  check_question(verb, given, q);
  check_missing(fit, q.missing);
  q.tell = tell;
  return q;
}

nb::object frame(const NamedColumns& columns, nb::handle data) {
  nb::dict out;
  if (!columns.classes.empty()) out["class"] = nb::cast(columns.classes);
  for (std::size_t j = 0; j < columns.names.size(); ++j)
    out[columns.names[j].c_str()] = to_numpy(Vector(columns.values[j]));
  const bool same_rows = !columns.values.empty() && is_table(data) &&
                         columns.values.front().size() == static_cast<Index>(nb::len(data));
  const nb::object index = same_rows ? nb::object(data.attr("index")) : nb::none();
  return nb::module_::import_("pandas").attr("DataFrame")(out, "index"_a = index);
}

nb::object predict_table(const FitNode& fit, const nb::object& data, const nb::kwargs& options) {
  TableQuestion q = question_of(fit, "predict", options);
  const Table table = asked_rows(fit, to_table(data, fit), q);
  return frame(unlocked([&] { return fit.predict(table, q); }), data);
}

nb::object sample_table(const FitNode& fit, const nb::object& data, const nb::kwargs& options) {
  const TableQuestion q = question_of(fit, "sample", options);
  const Table table = to_table(data, fit);
  return frame(unlocked([&] { return fit.sample(table, q); }), data);
}

nb::object evaluate(const FitNode& fit, const nb::object& data, const nb::kwargs& options) {
  const TableQuestion q = question_of(fit, "evaluate", options);
  const Table table = asked_rows(fit, to_table(data, fit), q);
  return parsed(unlocked([&] { return fit.evaluate(table, q); }).json);
}

nb::object update(const FitNode& fit, const nb::object& data, const nb::kwargs& options) {
  const TableQuestion q = question_of(fit, "update", options);
  const Table table = to_table(data, fit);
  return to_python(unlocked([&] { return fit.update(table, q); }));
}

nb::object compressed(const FitNode& fit, double loss,
                      const std::optional<std::vector<std::string>>& features, Index most_inducing,
                      Index max_iter, std::uint64_t seed) {
  check_options("compress", {}, fit);
  CompressOptions options{.loss = loss,
                          .most_inducing = most_inducing,
                          .iterations = max_iter,
                          .seed = seed,
                          .tell = tell};
  if (features)
    for (const auto& text : *features) options.features.emplace_back(text);
  return to_python(unlocked([&] { return fit.compressed(options).fit; }));
}

void report(const FitNode& fit, const std::filesystem::path& path, const nb::object& data,
            const std::string& title, const std::string& exposure) {
  std::vector<std::string> given;
  if (!exposure.empty()) given.emplace_back("exposure");
  check_options("report", given, fit);
  FitReportOptions options;
  options.exposure = exposure;
  if (!title.empty()) options.title = title;
  Table table;
  if (!data.is_none()) {
    table = to_table(data, fit);
    options.held_out = &table;
    options.held_out_name = "the rows given";
  }
  write_file(path.string(), unlocked([&] {
               return fit_report(Fit(std::shared_ptr<const FitNode>(std::shared_ptr<void>(), &fit)),
                                 options);
             }));
}

nb::object load_as(nb::handle cls, const std::filesystem::path& path) {
  const Fit any = unlocked([&] { return load(path.string()); });
  nb::object out = to_python(any);
  if (!nb::isinstance(out, cls))
    throw Unsupported(
        fmt::format("{} holds a {}; read it with covary.load", path.string(), what(*any)));
  return out;
}

constexpr const char* doc = R"doc(A trained model of any kind: immutable, thread-safe, saveable.

What ``covary.load`` and ``covary.fit`` return is of one of the classes below this one, which have more.

>>> import numpy as np, covary as cv
>>> X = np.linspace(0, 1, 20).reshape(-1, 1)
>>> fit = cv.Regression(X, np.sin(6 * X[:, 0])).fit()
>>> isinstance(fit, cv.Fit), fit.model, fit.summary.objective
(True, 'exact', 'log_marginal_likelihood')
>>> fit.predict_table(X[:2]).columns.tolist()
['mean', 'variance', 'sd', 'variance_f', 'lower', 'upper']
)doc";

}  // namespace

// To whoever listens to the logger 'covary'.
void tell(const std::string& line) {
  const nb::gil_scoped_acquire acquire;
  nb::module_::import_("logging").attr("getLogger")("covary").attr("info")("%s", line);
}

nb::object to_python(const Fit& fit) {
  return nb::cast(std::const_pointer_cast<FitNode>(fit.node()));
}

void bind_fit(nb::module_& m) {
  nb::class_<FitNode> fit(m, "Fit", doc, nb::dynamic_attr());
  fit.attr("load") =
      nb::module_::import_("builtins")
          .attr("classmethod")(nb::cpp_function(
              load_as, "cls"_a, "path"_a, "Reads a model file that holds a fit of this class."));
  fit.def_prop_ro(
         "value", [](const FitNode& f) { return f.value; },
         "The objective in nats, in the units of the data, without log priors. "
         "``summary.objective`` says what it is: an evidence, a bound of one or an approximation.")
      .def_prop_ro("log_prior", [](const FitNode& f) { return f.log_prior; })
      .def_prop_ro(
          "model", [](const FitNode& f) { return f.model; }, "Its name in ``covary.models()``.")
      .def_prop_ro(
          "parameters", [](const FitNode& f) { return f.parameters; },
          "A copy, in the units the model saw.")
      .def_prop_ro("standard_errors", standard_errors,
                   "Standard errors of the trained parameters by path; empty when not computed.")
      .def_prop_ro("summary", [](const FitNode& f) { return f.summary; })
      .def_prop_ro(
          "diagnostics",
          [](const FitNode& f) {
            nb::dict out;
            for (const auto& [name, value] : f.diagnostics) out[name.c_str()] = value;
            return out;
          },
          "What else the inference has to say, by name.",
          nb::sig("def diagnostics(self) -> dict[str, float]"))
      .def_prop_ro("input_names", [](const FitNode& f) { return f.input_names(); })
      .def_prop_ro("output_names", [](const FitNode& f) { return f.output_names; })
      .def(
          "describe", [](const FitNode& f) { return parsed(f.describe().json); },
          "What ``covary show --json`` prints.")
      .def("predict_table", predict_table, "data"_a, "options"_a,
           "A pandas table with the columns of ``covary predict``, whose options it takes by name.")
      .def("sample_table", sample_table, "data"_a, "options"_a,
           "Joint draws of the function: a pandas table with the columns of ``covary sample``, "
           "whose options it takes by name.")
      .def("evaluate", evaluate, "data"_a, "options"_a,
           "The scores of ``covary evaluate`` on a table with the outputs.")
      .def("update", update, "data"_a, "options"_a,
           "The fit conditioned on the rows of a table with the outputs, parameters as they are.")
      .def("compress", compressed, "loss"_a = 0.01, "features"_a = nb::none(),
           "most_inducing"_a = 500, "max_iter"_a = 200, "seed"_a = 0,
           "The smallest fit of inducing variables whose posterior is within ``loss`` nats per row "
           "of this one. ``features`` is a list of the kinds to try, such as ['points', "
           "'basis(4)']; by default points and sums of 2, 4 and 8 of them. diagnostics['numbers'] "
           "is its size, diagnostics['compression_loss'] its loss.")
      .def("report", report, "path"_a, "data"_a = nb::none(), "title"_a = "", "exposure"_a = "",
           "Writes the page of ``covary report``.")
      .def(
          "save",
          [](const FitNode& f, const std::filesystem::path& path) {
            unlocked([&] { f.save(path.string()); });
          },
          "path"_a, "Writes the model file, which the command line reads too.")
      .def("__reduce__",
           [](const FitNode& f) {
             const auto bytes = unlocked([&] { return f.bytes(); });
             return nb::make_tuple(nb::module_::import_("covary").attr("_restored"),
                                   nb::make_tuple(nb::bytes(bytes.data(), bytes.size())));
           })
      .def("__copy__", [](nb::handle self) { return nb::borrow(self); })
      .def(
          "__deepcopy__", [](nb::handle self, nb::handle) { return nb::borrow(self); }, "memo"_a)
      .def("__repr__",
           [](const FitNode& f) { return fmt::format("<{}: {}>", what(f), describe_value(f)); })
      .def("__str__", [](const FitNode& f) { return f.describe().text; })
      .def("_repr_html_", [](const FitNode& f) {
        return fmt::format("<p>{}<br>{}</p>{}", what(f), describe_value(f),
                           html_table(f.parameters, &f.standard_errors));
      });
  m.def(
      "load",
      [](const std::filesystem::path& path) {
        return to_python(unlocked([&] { return load(path.string()); }));
      },
      "path"_a, "Reads a model file of any kind, written by Python or the command line.",
      nb::sig("def load(path: str | os.PathLike) -> Fit"));
  m.def("_restore", [](const nb::bytes& state) {
    const std::span bytes(static_cast<const std::byte*>(state.data()), state.size());
    return to_python(unlocked([&] { return load_bytes(bytes, "the pickle"); }));
  });
}

}  // namespace covary::python
