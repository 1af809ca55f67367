#include <fmt/format.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "bindings.hpp"
#include "covary/error.hpp"
#include "covary/models/uncertain_regression.hpp"
#include "expressions.hpp"
#include "training_data.hpp"
#include "watch.hpp"

namespace covary::python {
namespace {

using namespace nb::literals;

// A model with its data in their own units, and what was found of its inputs once it is trained.
struct UncertainInputsModel {
  TrainingData data;
  UncertainInputsOptions options;
  RowMatrix mean = {}, variance = {}, error_variance = {};
};

// None is trained; a number is that of all; a list of D numbers is one row, any other a row for
// each of X.
RowMatrix to_variances(const ArrayLike& object, Index D) {
  if (object.is_none()) return {};
  if (nb::cast<Index>(nb::module_::import_("numpy").attr("ndim")(object)) == 2)
    return to_inputs(object, "input_variance").get();
  const Vector v = to_vector(object, "input_variance");
  if (v.size() == 1) return RowMatrix::Constant(1, D, v(0));
  return v.size() == D ? RowMatrix(v.transpose()) : RowMatrix(v);
}

RegressionFit run_fit(UncertainInputsModel& m, std::optional<std::uint64_t> seed, Index max_iter,
                      std::optional<double> max_seconds, const nb::object& callback,
                      const nb::object& progress) {
  UncertainInputsOptions options = m.options;
  if (seed) options.seed = *seed;
  options.training.max_iterations = max_iter;
  if (max_seconds) options.training.max_seconds = *max_seconds;
  Watch watch(callback, progress, options.training, 1, 0.0);
  watch.attach(options.training);
  const UncertainInputsRegression training(m.data.X, m.data.Y, options);
  UncertainInputsFit fit = watch.run(training);
  RegressionFit out = std::move(fit.regression);
  out.input_columns = m.data.inputs();
  out.output_names = m.data.output_names;
  m.mean = std::move(fit.mean);
  m.variance = std::move(fit.variance);
  m.error_variance = std::move(fit.input_variance);
  return out;
}

NumpyArray once_trained(const RowMatrix& values) {
  if (values.size() == 0) throw InputError("call fit() first, which infers the inputs");
  return to_numpy(values);
}

constexpr const char* model_doc =
    R"doc(Sparse regression with inputs that were observed with noise.

x ~ N(X, input_variance), and q(x) of the rows is trained with the function. ``input_variance`` is a number, one for
each column or an array like X, in squared units of X, zero where an input is known; None trains one for each
column. ``train_variance`` trains a factor for each column of the given variances. With ``move_inputs=False`` q(x) stays as
observed. ``restarts`` is the number of starts, with decreasing output noise; 0 is two.

``fit()`` gives a Fit; after it ``input_mean`` and ``input_variance`` are those of q(X), and ``error_variance`` is
that of the errors.

>>> import numpy as np, covary as cv
>>> rng = np.random.default_rng(0)
>>> X = rng.uniform(-3, 3, (100, 1))
>>> y = np.sin(2 * X[:, 0]) + 0.05 * rng.standard_normal(100)
>>> seen = X + 0.2 * rng.standard_normal((100, 1))
>>> model = cv.UncertainInputsRegression(seen, y, input_variance=0.04, inducing=15)
>>> fit = model.fit(max_iter=200)
>>> bool(np.abs(model.input_mean - X).mean() < np.abs(seen - X).mean()), fit.model
(True, 'noisy_inputs')
)doc";

}  // namespace

void bind_uncertain_inputs(nb::module_& m) {
  nb::class_<UncertainInputsModel>(m, "UncertainInputsRegression", model_doc)
      .def(
          "__init__",
          [](UncertainInputsModel* self, const ArrayLike& X, const ArrayLike& Y,
             const ArrayLike& input_variance, bool train_variance, bool move_inputs,
             const KernelLike& kernel, Index inducing, const std::string& scale, Index restarts,
             double jitter, std::uint64_t seed, const Names& input_names,
             const Names& output_names) {
            TrainingData data = to_training_data(X, Y, nb::none(), input_names, output_names);
            UncertainInputsOptions o;
            o.input_variance = to_variances(input_variance, data.X.cols());
            o.train_variance = train_variance;
            o.move_inputs = move_inputs;
            o.kernel = to_kernel(kernel);
            o.inducing = inducing;
            o.scale_inputs = to_scale_mode(scale, data.X);
            o.scale_outputs = to_scale_mode(scale, data.Y);
            o.training.starts = restarts;
            o.jitter = jitter;
            o.seed = seed;
            const UncertainInputsRegression checked(data.X, data.Y, o);
            new (self) UncertainInputsModel{std::move(data), std::move(o)};
          },
          "X"_a, "Y"_a, "input_variance"_a = nb::none(), "train_variance"_a = false,
          "move_inputs"_a = true, "kernel"_a = "se(ard)", "inducing"_a = 50, "scale"_a = "columns",
          "restarts"_a = 0, "jitter"_a = 0.0, "seed"_a = 0, "input_names"_a = nb::none(),
          "output_names"_a = nb::none())
      .def(
          "fit",
          [](UncertainInputsModel& self, std::optional<std::uint64_t> seed, Index max_iter,
             std::optional<double> max_seconds, const nb::object& callback,
             std::optional<bool> progress) {
            return run_fit(self, seed, max_iter, max_seconds, callback, nb::cast(progress));
          },
          "seed"_a = nb::none(), "max_iter"_a = 1000, "max_seconds"_a = nb::none(),
          "callback"_a = nb::none(), "progress"_a = nb::none(),
          "Trains in parts, each of at most max_iter iterations: a regression of the inputs as "
          "they "
          "were observed, each start, everything.")
      .def_prop_ro(
          "input_mean", [](const UncertainInputsModel& self) { return once_trained(self.mean); },
          nb::rv_policy::move, "Means of q(X) after fit(), in the units of the data.")
      .def_prop_ro(
          "input_variance",
          [](const UncertainInputsModel& self) { return once_trained(self.variance); },
          nb::rv_policy::move, "Variances of q(X) after fit(); zero where an input was known.")
      .def_prop_ro(
          "error_variance",
          [](const UncertainInputsModel& self) { return once_trained(self.error_variance); },
          nb::rv_policy::move,
          "Variances of the errors of the inputs after fit(), as given or trained; one row, or one "
          "for each row of X.")
      .def("__repr__", [](const UncertainInputsModel& self) {
        return fmt::format("<UncertainInputsRegression: {} rows, {} inputs, kernel {}>",
                           self.data.X.rows(), self.data.X.cols(), self.options.kernel.print());
      });
}

}  // namespace covary::python
