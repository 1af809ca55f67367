#include <fmt/format.h>
#include <nanobind/stl/function.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <cmath>

#include "arrays.hpp"
#include "bindings.hpp"
#include "covary/error.hpp"
#include "covary/models/regression.hpp"
#include "covary/storage/model_file.hpp"
#include "expressions.hpp"
#include "parameters.hpp"
#include "tables.hpp"
#include "watch.hpp"

namespace covary::python {
namespace {

using namespace nb::literals;
using Names = std::optional<std::vector<std::string>>;

// A regression with its data in their own units, so that fit() may set the options of training.
struct Model {
  RowMatrix X, Y;
  Vector noise;
  RegressionOptions options;
  std::vector<std::string> input_names, output_names;
  Regression regression;
};

std::vector<std::string> numbered(const char* prefix, Index n) {
  std::vector<std::string> out;
  for (Index i = 0; i < n; ++i) out.push_back(fmt::format("{}{}", prefix, i));
  return out;
}

std::vector<std::string> names_for(const Names& given, nb::handle data, const char* prefix, Index n,
                                   const char* what) {
  Names names = given ? given : column_names(data);
  if (!names) return numbered(prefix, n);
  if (static_cast<Index>(names->size()) != n)
    throw InputError(fmt::format("{} has {} names for {} columns", what, names->size(), n));
  return *names;
}

// "auto" is by the data, for inputs and outputs apart, as on the command line.
ScaleMode scale_mode(const std::string& scale, ConstRows data) {
  return scale == "auto" ? suggest_mode(data) : parse_scale_mode(scale);
}

Model make_model(const ArrayLike& X, const ArrayLike& Y, const KernelLike& kernel,
                 const MeanLike& mean, const std::string& scale, const ArrayLike& noise,
                 double jitter, const Names& input_names, const Names& output_names) {
  const Rows x = to_inputs(X), y = to_outputs(Y);
  RegressionOptions options;
  options.kernel = to_kernel(kernel);
  options.mean = to_mean(mean);
  options.scale_inputs = scale_mode(scale, x.get());
  options.scale_outputs = scale_mode(scale, y.get());
  options.jitter = jitter;
  const Vector point_noise = to_vector(noise, "noise");
  const Index D = x.get().cols(), P = y.get().cols();
  auto inputs = names_for(input_names, X, "x", D, "input_names");
  auto outputs = !output_names && !column_names(Y) && P == 1
                     ? std::vector<std::string>{"y"}
                     : names_for(output_names, Y, "y", P, "output_names");
  return {x.get(),
          y.get(),
          point_noise,
          options,
          std::move(inputs),
          std::move(outputs),
          Regression(x.get(), y.get(), options, point_noise)};
}

struct FitArguments {
  std::uint64_t seed;
  Index restarts, max_iter;
  std::optional<double> max_seconds;
  std::string standard_errors;
  nb::object callback, progress;
};

SavedModel run_fit(Model& m, const FitArguments& a) {
  RegressionOptions options = m.options;
  options.seed = a.seed;
  options.starts = a.restarts;
  options.training.max_iterations = a.max_iter;
  if (a.max_seconds) options.training.max_seconds = *a.max_seconds;
  if (a.standard_errors != "auto" && a.standard_errors != "yes" && a.standard_errors != "no")
    throw InputError(
        fmt::format("standard_errors is '{}'; it is 'auto', 'yes' or 'no'", a.standard_errors));
  options.standard_errors = a.standard_errors == "yes"  ? Switch::on
                            : a.standard_errors == "no" ? Switch::off
                                                        : Switch::automatic;
  const Index starts = a.restarts ? a.restarts : (m.X.rows() <= 1000 ? 3 : 1);
  Watch watch(a.callback, a.progress, options, starts,
              -m.regression.output_scaling().log_jacobian(m.Y));
  watch.attach(options);
  // A model of its own is trained, so that other Python threads may go on using this one.
  Regression training(m.X, m.Y, options, m.noise);
  training.parameters() = m.regression.parameters();
  InputColumns inputs;
  for (const auto& name : m.input_names) inputs.columns.push_back({name, {}});
  std::optional<SavedModel> out;
  try {
    const nb::gil_scoped_release release;
    out = SavedModel{training.fit(), inputs};
  } catch (...) {
    watch.close(false);
    throw;
  }
  watch.close(true);
  out->fit.input_names = m.input_names;
  out->fit.output_names = m.output_names;
  m.regression.parameters() = training.parameters();
  return std::move(*out);
}

nb::tuple get_state(const Model& m) {
  const auto mode = [](ScaleMode s) { return static_cast<int>(s); };
  return nb::make_tuple(to_numpy(RowMatrix(m.X)), to_numpy(RowMatrix(m.Y)),
                        to_numpy(Vector(m.noise)), m.options.kernel, m.options.mean,
                        mode(m.options.scale_inputs), mode(m.options.scale_outputs),
                        m.options.jitter, m.input_names, m.output_names, m.regression.parameters());
}

Model from_state(const nb::tuple& t) {
  RegressionOptions options;
  options.kernel = nb::cast<Kernel>(t[3]);
  options.mean = nb::cast<Mean>(t[4]);
  options.scale_inputs = static_cast<ScaleMode>(nb::cast<int>(t[5]));
  options.scale_outputs = static_cast<ScaleMode>(nb::cast<int>(t[6]));
  options.jitter = nb::cast<double>(t[7]);
  const Rows x = to_inputs(t[0]), y = to_outputs(t[1]);
  const Vector noise = to_vector(t[2], "noise");
  Model m{x.get(),
          y.get(),
          noise,
          options,
          nb::cast<std::vector<std::string>>(t[8]),
          nb::cast<std::vector<std::string>>(t[9]),
          Regression(x.get(), y.get(), options, noise)};
  m.regression.parameters() = nb::cast<Parameters>(t[10]);
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

``restarts`` is the number of starts in all (0: three up to 1000 rows, else one). ``max_iter=0`` only
evaluates. ``callback(iteration, objective, gradient_norm)`` is called after each iteration; when it
returns False training stops and keeps what it has. The objective it sees is in the units of the
data, priors included. ``progress`` draws a bar: True always, False never, None in notebooks and on
terminals when the fit takes longer than half a second. Ctrl-C raises KeyboardInterrupt and leaves the
parameters as they were.

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
            new (self) Model(
                make_model(X, Y, kernel, mean, scale, noise, jitter, input_names, output_names));
          },
          "X"_a, "Y"_a, "kernel"_a = "se(ard)", "mean"_a = "zero", "scale"_a = "auto",
          "noise"_a = nb::none(), "jitter"_a = 0.0, "input_names"_a = nb::none(),
          "output_names"_a = nb::none())
      .def(
          "fit",
          [](Model& self, std::uint64_t seed, Index restarts, Index max_iter,
             std::optional<double> max_seconds, const std::string& standard_errors,
             nb::object callback, std::optional<bool> progress) {
            return run_fit(self, {seed, restarts, max_iter, max_seconds, standard_errors, callback,
                                  nb::cast(progress)});
          },
          "seed"_a = 0, "restarts"_a = 0, "max_iter"_a = 1000, "max_seconds"_a = nb::none(),
          "standard_errors"_a = "auto", "callback"_a = nb::none(), "progress"_a = nb::none(),
          fit_doc)
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
      .def_ro("input_names", &Model::input_names)
      .def_ro("output_names", &Model::output_names)
      .def("__copy__", [](const Model& self) { return self; })
      .def(
          "__deepcopy__", [](const Model& self, nb::handle) { return self; }, "memo"_a)
      .def("__getstate__", get_state)
      .def("__setstate__",
           [](Model& self, const nb::tuple& state) { new (&self) Model(from_state(state)); })
      .def("__repr__",
           [](const Model& self) {
             return fmt::format("<Regression: {} rows, kernel {}, mean {}>", self.X.rows(),
                                self.options.kernel.print(), self.options.mean.print());
           })
      .def("_repr_html_",
           [](const Model& self) { return html_table(self.regression.parameters()); });
}

}  // namespace covary::python
