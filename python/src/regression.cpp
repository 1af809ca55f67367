#include <fmt/format.h>
#include <nanobind/stl/function.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <cmath>

#include "arrays.hpp"
#include "bindings.hpp"
#include "covary/error.hpp"
#include "covary/models/fit.hpp"
#include "covary/models/regression.hpp"
#include "expressions.hpp"
#include "parameters.hpp"
#include "training_data.hpp"
#include "watch.hpp"

namespace covary::python {
namespace {

using namespace nb::literals;
// A regression with its data in their own units, so that fit() may set the options of training.
struct Model {
  TrainingData data;
  RegressionOptions options;
  Regression regression;

  Regression made(const RegressionOptions& o) const {
    Regression out(data.X, data.Y, o, data.noise);
    out.parameters() = regression.parameters();
    return out;
  }
  void take(const Regression& trained, const RegressionOptions&) {
    regression.parameters() = trained.parameters();
  }
  void name(RegressionFit& fit) const { data.name(fit); }
  Index starts(Index given) const { return given ? given : data.X.rows() <= 1000 ? 3 : 1; }
  nb::tuple state() const;
};

Model make_model(TrainingData data, RegressionOptions options) {
  Regression regression(data.X, data.Y, options, data.noise);
  return {std::move(data), std::move(options), std::move(regression)};
}

Switch to_switch(const std::string& standard_errors) {
  if (standard_errors == "yes") return Switch::on;
  if (standard_errors == "no") return Switch::off;
  if (standard_errors == "auto") return Switch::automatic;
  throw InputError(
      fmt::format("unknown standard_errors '{}'; choose 'auto', 'yes' or 'no'", standard_errors));
}

nb::tuple Model::state() const {
  const auto mode = [](ScaleMode s) { return static_cast<int>(s); };
  return nb::make_tuple(get_state(data), options.kernel, options.mean, mode(options.scale_inputs),
                        mode(options.scale_outputs), options.jitter, regression.parameters());
}

Model from_state(const nb::tuple& t) {
  RegressionOptions options;
  options.kernel = nb::cast<Kernel>(t[1]);
  options.mean = nb::cast<Mean>(t[2]);
  options.scale_inputs = static_cast<ScaleMode>(nb::cast<int>(t[3]));
  options.scale_outputs = static_cast<ScaleMode>(nb::cast<int>(t[4]));
  options.jitter = nb::cast<double>(t[5]);
  Model m = make_model(training_data_from(nb::cast<nb::tuple>(t[0])), options);
  m.regression.parameters() = nb::cast<Parameters>(t[6]);
  return m;
}

constexpr const char* regression_doc = R"doc(Exact Gaussian-process regression, to be trained.

X is N×D; Y is N, or N×P with NaN where missing. Both may be pandas, whose column names are kept.
``noise`` are known noise variances of the rows, added to the trained one. ``scale`` is "auto",
"columns", "global" or "none".

>>> import numpy as np, covary as cv
>>> X = np.linspace(0, 1, 20).reshape(-1, 1)
>>> model = cv.Regression(X, np.sin(6 * X[:, 0]), kernel="matern52 + white")
>>> model.parameters["likelihood.variance"] = 1e-3
>>> model.parameters.fix("likelihood")
>>> fit = model.fit(seed=1)
>>> fit.summary.converged
True
)doc";

constexpr const char* fit_doc =
    R"doc(Trains from the current parameters, which become the best found.

``restarts`` is the number of starts (0: three up to 1000 rows, else one). ``max_iter=0`` only
evaluates. ``callback(iteration, objective, gradient_norm)`` is called after each iteration; when it
returns False training stops and keeps what it has. The objective it sees is in the units of the
data, priors included. ``progress`` draws a bar: True always, False never, None in notebooks and on
terminals when the fit takes longer than half a second. Ctrl-C raises KeyboardInterrupt and leaves the
parameters as they were. ``checkpoint`` is a file that keeps the state of training; with ``resume`` training
goes on from it and ends with the same bits. ``from_``, a fit, its parameters or the path of its file, gives
the values to start from where paths match.

>>> import numpy as np, covary as cv
>>> X = np.linspace(0, 1, 20).reshape(-1, 1)
>>> seen = []
>>> fit = cv.Regression(X, X[:, 0] ** 2).fit(callback=lambda i, value, norm: seen.append(value))
>>> seen[-1] > seen[0]
True
)doc";

}  // namespace

void bind_regression(nb::module_& m) {
  nb::class_<Model>(m, "Regression", regression_doc)
      .def(
          "__init__",
          [](Model* self, const ArrayLike& X, const ArrayLike& Y, const KernelLike& kernel,
             const MeanLike& mean, const std::string& scale, const ArrayLike& noise, double jitter,
             const Names& input_names, const Names& output_names) {
            TrainingData data = to_training_data(X, Y, noise, input_names, output_names);
            RegressionOptions options;
            options.kernel = to_kernel(kernel);
            options.mean = to_mean(mean);
            options.scale_inputs = to_scale_mode(scale, data.X);
            options.scale_outputs = to_scale_mode(scale, data.Y);
            options.jitter = jitter;
            new (self) Model(make_model(std::move(data), std::move(options)));
          },
          "X"_a, "Y"_a, "kernel"_a = "se(ard)", "mean"_a = "zero", "scale"_a = "auto",
          "noise"_a = nb::none(), "jitter"_a = 0.0, "input_names"_a = nb::none(),
          "output_names"_a = nb::none())
      .def(
          "fit",
          [](Model& self, std::optional<std::uint64_t> seed, Index restarts, Index max_iter,
             std::optional<double> max_seconds, const std::string& standard_errors,
             const nb::object& callback, std::optional<bool> progress, const nb::object& checkpoint,
             bool resume, const nb::object& from) {
            self.options.standard_errors = to_switch(standard_errors);
            return run_fit(self, {seed, restarts, max_iter, max_seconds, checkpoint, resume, from,
                                  callback, nb::cast(progress)});
          },
          "seed"_a = nb::none(), "restarts"_a = 0, "max_iter"_a = 1000,
          "max_seconds"_a = nb::none(), "standard_errors"_a = "auto", "callback"_a = nb::none(),
          "progress"_a = nb::none(), "checkpoint"_a = nb::none(), "resume"_a = false,
          "from_"_a = nb::none(), fit_doc)
      .def(
          "log_marginal_likelihood",
          [](const Model& self) {
            const Regression copy = self.regression;
            const nb::gil_scoped_release release;
            return copy.log_marginal_likelihood();
          },
          "At the current parameters, in the units of the data.")
      .def(
          "laplace_log_evidence",
          [](const Model& self) {
            const Regression copy = self.regression;
            const nb::gil_scoped_release release;
            return copy.laplace_log_evidence();
          },
          "The evidence with the parameters integrated out by Laplace's method, after fit().")
      .def_prop_ro(
          "parameters", [](Model& self) -> Parameters& { return self.regression.parameters(); },
          nb::rv_policy::reference_internal, "In the units the model sees.")
      .def_prop_ro("kernel", [](const Model& self) { return self.options.kernel; })
      .def_prop_ro("mean", [](const Model& self) { return self.options.mean; })
      .def_prop_ro("warnings", [](const Model& self) { return self.regression.warnings(); })
      .def_prop_ro("input_names", [](const Model& self) { return self.data.input_names; })
      .def_prop_ro("output_names", [](const Model& self) { return self.data.output_names; })
      .def("__copy__", [](const Model& self) { return self; })
      .def(
          "__deepcopy__", [](const Model& self, nb::handle) { return self; }, "memo"_a)
      .def("__getstate__", &Model::state)
      .def("__setstate__",
           [](Model& self, const nb::tuple& state) { new (&self) Model(from_state(state)); })
      .def("__repr__",
           [](const Model& self) {
             return fmt::format("<Regression: {} rows, kernel {}, mean {}>", self.data.X.rows(),
                                self.options.kernel.print(), self.options.mean.print());
           })
      .def("_repr_html_",
           [](const Model& self) { return html_table(self.regression.parameters()); });
}

}  // namespace covary::python
