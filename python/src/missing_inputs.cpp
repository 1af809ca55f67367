#include "covary/models/missing_inputs.hpp"

#include <fmt/format.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "bindings.hpp"
#include "covary/error.hpp"
#include "covary/models/fit.hpp"
#include "expressions.hpp"
#include "training_data.hpp"
#include "watch.hpp"

namespace covary::python {
namespace {

using namespace nb::literals;

// A model with its data in their own units, and q of its inputs once it is trained.
struct MissingInputsModel {
  TrainingData data;
  MissingInputsOptions options;
  RowMatrix mean = {}, variance = {};
};

RegressionFit run_fit(MissingInputsModel& m, std::optional<std::uint64_t> seed, Index max_iter,
                      std::optional<double> max_seconds, const nb::object& callback,
                      const nb::object& progress) {
  MissingInputsOptions options = m.options;
  if (seed) options.seed = *seed;
  options.training.max_iterations = max_iter;
  if (max_seconds) options.training.max_seconds = *max_seconds;
  Watch watch(callback, progress, options.training, 1, 0.0);
  watch.attach(options.training);
  const MissingInputsRegression training(m.data.X, m.data.Y, options);
  MissingInputsFit fit = watch.run(training);
  RegressionFit out = std::move(fit.regression);
  out.input_columns = m.data.inputs();
  out.output_names = m.data.output_names;
  m.mean = std::move(fit.mean);
  m.variance = std::move(fit.variance);
  return out;
}

RowMatrix once_trained(const RowMatrix& values) {
  if (values.size() == 0) throw InputError("call fit() first, which learns the inputs");
  return values;
}

constexpr const char* model_doc =
    R"doc(Sparse regression with missing inputs, NaN in X, which are learned from the outputs of their rows.

``fit()`` gives a Fit; after it ``input_mean`` and ``input_variance`` are those of X, the variance zero where
an input was given.

>>> import numpy as np, covary as cv
>>> rng = np.random.default_rng(0)
>>> X = rng.standard_normal((40, 1))
>>> Y = np.column_stack([X[:, 0], np.tanh(X[:, 0])]) + 0.01 * rng.standard_normal((40, 2))
>>> holed = X.copy()
>>> holed[30:] = np.nan
>>> model = cv.MissingInputsRegression(holed, Y, inducing=15)
>>> fit = model.fit(max_iter=100)
>>> bool(np.abs(model.input_mean - X)[30:].max() < 0.2), fit.model
(True, 'vfe')
)doc";

}  // namespace

void bind_missing_inputs(nb::module_& m) {
  nb::class_<MissingInputsModel>(m, "MissingInputsRegression", model_doc)
      .def(
          "__init__",
          [](MissingInputsModel* self, const ArrayLike& X, const ArrayLike& Y,
             const KernelLike& kernel, Index inducing, const std::string& scale, double jitter,
             std::uint64_t seed, const Names& input_names, const Names& output_names) {
            TrainingData data = to_training_data(X, Y, nb::none(), input_names, output_names);
            MissingInputsOptions o;
            o.kernel = to_kernel(kernel);
            o.inducing = inducing;
            o.scale_inputs = to_scale_mode(scale, data.X);
            o.scale_outputs = to_scale_mode(scale, data.Y);
            o.jitter = jitter;
            o.seed = seed;
            new (self) MissingInputsModel{std::move(data), std::move(o)};
          },
          "X"_a, "Y"_a, "kernel"_a = "se(ard)", "inducing"_a = 50, "scale"_a = "columns",
          "jitter"_a = 0.0, "seed"_a = 0, "input_names"_a = nb::none(),
          "output_names"_a = nb::none())
      .def(
          "fit",
          [](MissingInputsModel& self, std::optional<std::uint64_t> seed, Index max_iter,
             std::optional<double> max_seconds, const nb::object& callback,
             std::optional<bool> progress) {
            return run_fit(self, seed, max_iter, max_seconds, callback, nb::cast(progress));
          },
          "seed"_a = nb::none(), "max_iter"_a = 1000, "max_seconds"_a = nb::none(),
          "callback"_a = nb::none(), "progress"_a = nb::none(),
          "Trains in parts, each of at most max_iter iterations: the complete rows, the mapping, "
          "everything.")
      .def_prop_ro(
          "input_mean",
          [](const MissingInputsModel& self) { return to_numpy(once_trained(self.mean)); },
          nb::rv_policy::move, "Means of q(X) after fit(), in the units of the data.")
      .def_prop_ro(
          "input_variance",
          [](const MissingInputsModel& self) { return to_numpy(once_trained(self.variance)); },
          nb::rv_policy::move, "Variances of q(X) after fit(); zero where an input was given.")
      .def("__repr__", [](const MissingInputsModel& self) {
        return fmt::format("<MissingInputsRegression: {} rows, {} of {} inputs missing, kernel {}>",
                           self.data.X.rows(), self.data.X.array().isNaN().count(),
                           self.data.X.size(), self.options.kernel.print());
      });
}

}  // namespace covary::python
