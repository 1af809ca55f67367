// A trained regression.
#include <fmt/format.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "arrays.hpp"
#include "autoregression.hpp"
#include "bindings.hpp"
#include "capabilities.hpp"
#include "covary/error.hpp"
#include "fit.hpp"
#include "parameter_draws.hpp"
#include "predictions.hpp"
#include "training_data.hpp"

namespace covary::python {
namespace {

using namespace nb::literals;

NumpyArray inducing_inputs(const RegressionFit& m) {
  const InducingView parts = m.posterior.inducing();
  const std::string name = parts.features->name();
  if (!m.parameters.contains("features.Z"))
    throw InputError(name + " features cover all inputs and have no inducing inputs");
  return to_numpy(m.input_scaling.undo(parts.features->where(parts.z.data())));
}

}  // namespace

void bind_regression_fit(nb::module_& m) {
  nb::class_<RegressionFit, FitNode> fit(
      m, "RegressionFit", R"doc(A trained regression: immutable, thread-safe, saveable.

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
  bind_can(fit);
  bind_parameter_draws(m, fit);
  bind_predictions(fit);
  bind_autoregression(m, fit);
  fit.def_prop_ro(
         "upper_bound", [](const RegressionFit& s) { return s.summary.upper_bound; },
         "Upper bound on the evidence of the exact model; None where none is known.")
      .def_prop_ro("kernel", [](const RegressionFit& s) { return s.posterior.kernel(); })
      .def_prop_ro("mean", [](const RegressionFit& s) { return s.posterior.mean(); })
      .def_prop_ro(
          "noise_variance",
          [](const RegressionFit& s) {
            const Vector& scale = s.output_scaling.scale;
            return to_numpy(Vector(s.posterior.noise_variance() * scale.cwiseAbs2()));
          },
          nb::rv_policy::move, "Noise variance of each output, in the units of the data squared.")
      .def_prop_ro(
          "input_scaling",
          [](const RegressionFit& s) { return scaling_to_python(s.input_scaling); },
          "Shift and scale of each input column.")
      .def_prop_ro(
          "output_scaling",
          [](const RegressionFit& s) { return scaling_to_python(s.output_scaling); },
          "Shift and scale of each output column.")
      .def_prop_ro("Z", inducing_inputs, nb::rv_policy::move,
                   "The inducing inputs of a sparse model, in the units of the data: M×D.")
      .def_prop_ro(
          "X",
          [](const RegressionFit& s) {
            return to_numpy(s.input_scaling.undo(s.posterior.training_inputs()));
          },
          nb::rv_policy::move, "The training inputs, which only an exact model keeps.")
      .def_prop_ro(
          "Y",
          [](const RegressionFit& s) {
            return outputs_to_numpy(s.output_scaling.undo(s.posterior.training_outputs()));
          },
          nb::rv_policy::move, "The training outputs, which only an exact model keeps.");
}

}  // namespace covary::python
