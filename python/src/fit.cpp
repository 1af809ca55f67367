// A trained model. It is immutable, so every call may release the interpreter's lock.
#include <fmt/format.h>
#include <nanobind/stl/filesystem.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "arrays.hpp"
#include "autoregression.hpp"
#include "bindings.hpp"
#include "covary/error.hpp"
#include "covary/models/model_file.hpp"
#include "parameter_draws.hpp"
#include "parameters.hpp"
#include "predictions.hpp"
#include "training_data.hpp"
#include "unlocked.hpp"

namespace covary::python {
namespace {

using namespace nb::literals;

nb::dict standard_errors(const SavedModel& m) {
  nb::dict out;
  Index free = 0;
  if (m.fit.standard_errors.size() == 0) return out;
  for (const Parameter& p : m.fit.parameters.all())
    if (p.trainable && p.tied_to.empty()) {
      out[p.path.c_str()] = to_python(p, m.fit.standard_errors.segment(free, p.value.size()));
      free += p.value.size();
    }
  return out;
}

nb::dict diagnostics(const SavedModel& m) {
  nb::dict out;
  for (const auto& [name, value] : m.fit.diagnostics) out[name.c_str()] = value;
  return out;
}

std::string describe(const SavedModel& m) {
  const Posterior& p = m.fit.posterior;
  const std::string inducing =
      p.can(Capability::inducing)
          ? fmt::format(", {} inducing inputs", p.inducing().features->size())
          : "";
  return fmt::format("{} regression of {} on {} input{}, {} rows{}, kernel {}, mean {}", p.name(),
                     fmt::join(m.fit.output_names, ", "), p.dims(), p.dims() == 1 ? "" : "s",
                     p.rows(), inducing, p.kernel().print(), p.mean().print());
}

// Its value with its name: a lower bound is not called the evidence.
std::string describe_value(const RegressionFit& fit) {
  return fmt::format("{} {:.6g}", fit.summary.objective == "elbo" ? "elbo" : "log evidence",
                     fit.log_marginal_likelihood);
}

NumpyArray inducing_inputs(const SavedModel& m) {
  const InducingView parts = m.fit.posterior.inducing();
  const std::string name = parts.features->name();
  if (!m.fit.parameters.contains("features.Z"))
    throw InputError(name + " features cover all inputs and have no inducing inputs");
  return to_numpy(m.fit.input_scaling.undo(parts.features->where(parts.z.data())));
}

void bind_storage(nb::class_<SavedModel>& fit) {
  fit.def(
         "save",
         [](const SavedModel& m, const std::filesystem::path& path) {
           unlocked([&] { save_model(path.string(), m); });
         },
         "path"_a, "Writes the model file, which the command line reads too.")
      .def_static(
          "load",
          [](const std::filesystem::path& path) {
            return unlocked([&] { return load_model(path.string()); });
          },
          "path"_a, "Reads a model file, by whichever door it was written.")
      .def("__getstate__",
           [](const SavedModel& m) {
             const auto bytes = unlocked([&] { return save_model_bytes(m); });
             return nb::bytes(bytes.data(), bytes.size());
           })
      .def("__setstate__",
           [](SavedModel& m, const nb::bytes& state) {
             const std::span bytes(static_cast<const std::byte*>(state.data()), state.size());
             new (&m) SavedModel(unlocked([&] { return load_model_bytes(bytes); }));
           })
      .def("__copy__", [](nb::handle self) { return nb::borrow(self); })
      .def(
          "__deepcopy__", [](nb::handle self, nb::handle) { return nb::borrow(self); }, "memo"_a);
}

}  // namespace

void bind_fit(nb::module_& m) {
  nb::class_<SavedModel> fit(m, "Fit", R"doc(A trained model: immutable, thread-safe, saveable.

With one output, means and variances are vectors; with P outputs they are n×P.

>>> import numpy as np, covary as cv
>>> X = np.linspace(0, 1, 20).reshape(-1, 1)
>>> fit = cv.Regression(X, np.sin(6 * X[:, 0])).fit()
>>> mean, variance = fit.predict_f(np.array([[0.25]]))
>>> bool(abs(mean[0] - np.sin(1.5)) < 1e-3)
True
>>> fit.sample(X, draws=3).shape
(3, 20)
)doc");
  bind_parameter_draws(m, fit);
  bind_predictions(fit);
  bind_autoregression(m, fit);
  bind_storage(fit);
  fit.def_prop_ro(
         "log_marginal_likelihood",
         [](const SavedModel& s) { return s.fit.log_marginal_likelihood; },
         "The evidence in nats, in the units of the data, without log priors. Of a sparse model it "
         "is the objective: a lower bound for 'vfe' and 'vfe(tight)', else an approximation.")
      .def_prop_ro(
          "upper_bound", [](const SavedModel& s) { return s.fit.summary.upper_bound; },
          "What the evidence of the exact model cannot exceed; None where it is not known.")
      .def_prop_ro(
          "model", [](const SavedModel& s) { return s.fit.posterior.name(); },
          "\"exact\", or the sparse approximation.")
      .def_prop_ro("diagnostics", diagnostics,
                   "What else the inference has to say, by name; empty for an exact model.",
                   nb::sig("def diagnostics(self) -> dict[str, float]"))
      .def_prop_ro("log_prior", [](const SavedModel& s) { return s.fit.log_prior; })
      .def_prop_ro("kernel", [](const SavedModel& s) { return s.fit.posterior.kernel(); })
      .def_prop_ro("mean", [](const SavedModel& s) { return s.fit.posterior.mean(); })
      .def_prop_ro(
          "parameters", [](const SavedModel& s) { return s.fit.parameters; },
          "A copy, in the units the model saw.")
      .def_prop_ro("standard_errors", standard_errors,
                   "Of the trained parameters by path; empty when not computed.")
      .def_prop_ro(
          "noise_variance",
          [](const SavedModel& s) {
            const Vector& scale = s.fit.output_scaling.scale;
            return to_numpy(Vector(s.fit.posterior.noise_variance() * scale.cwiseAbs2()));
          },
          nb::rv_policy::move, "Of each output, in the units of the data squared.")
      .def_prop_ro("summary", [](const SavedModel& s) { return s.fit.summary; })
      .def_prop_ro("input_names", [](const SavedModel& s) { return s.inputs.names(); })
      .def_prop_ro("output_names", [](const SavedModel& s) { return s.fit.output_names; })
      .def_prop_ro(
          "input_scaling",
          [](const SavedModel& s) { return scaling_to_python(s.fit.input_scaling); },
          "Shift and scale of each input column.")
      .def_prop_ro(
          "output_scaling",
          [](const SavedModel& s) { return scaling_to_python(s.fit.output_scaling); },
          "Shift and scale of each output column.")
      .def_prop_ro("Z", inducing_inputs, nb::rv_policy::move,
                   "The inducing inputs of a sparse model, in the units of the data: M×D.")
      .def_prop_ro(
          "X",
          [](const SavedModel& s) {
            return to_numpy(s.fit.input_scaling.undo(s.fit.posterior.training_inputs()));
          },
          nb::rv_policy::move, "The training inputs, which only an exact model keeps.")
      .def_prop_ro(
          "Y",
          [](const SavedModel& s) {
            return outputs_to_numpy(s.fit.output_scaling.undo(s.fit.posterior.training_outputs()));
          },
          nb::rv_policy::move, "The training outputs, which only an exact model keeps.")
      .def("__repr__",
           [](const SavedModel& s) {
             return fmt::format("<{}: {}>", describe(s), describe_value(s.fit));
           })
      .def("__str__",
           [](const SavedModel& s) {
             const Vector& errors = s.fit.standard_errors;
             return fmt::format("{}\n{}\n\n{}", describe(s), s.fit.summary.brief(),
                                s.fit.parameters.table(errors.size() ? &errors : nullptr));
           })
      .def("_repr_html_", [](const SavedModel& s) {
        return fmt::format("<p>{}<br>{}</p>{}", describe(s), describe_value(s.fit),
                           html_table(s.fit.parameters, &s.fit.standard_errors));
      });
}

}  // namespace covary::python
