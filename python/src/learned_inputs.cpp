// Sparse regression whose inputs are missing, or were observed with noise.
#include <fmt/format.h>
#include <nanobind/stl/vector.h>

#include <algorithm>

#include "bindings.hpp"
#include "covary/error.hpp"
#include "covary/models/missing_inputs.hpp"
#include "covary/models/uncertain_regression.hpp"
#include "expressions.hpp"
#include "training_data.hpp"
#include "watch.hpp"

namespace covary::python {
namespace {

using namespace nb::literals;

// A model with its data in their own units, and what was found of its inputs once it is trained.
template <class Regression, class Options>
struct InputsModel {
  TrainingData data;
  Options options;
  RowMatrix mean = {}, variance = {}, error_variance = {};

  Regression made(const Options& o) const { return {data.X, data.Y, o}; }
  template <class Found>
  void name(Found& found) {
    data.name(found.regression);
    mean = std::move(found.mean);
    variance = std::move(found.variance);
    if constexpr (requires { found.input_variance; })
      error_variance = std::move(found.input_variance);
  }
  void take(const Regression&, const Options&) {}  // it starts at the data, whenever it is trained
  Index starts(Index given) const { return std::max<Index>(1, given); }
  nb::tuple state() const {
    nb::list course;
    if constexpr (requires { options.input_variance; }) {
      course.append(to_numpy(RowMatrix(options.input_variance)));
      course.append(nb::make_tuple(options.train_variance, options.move_inputs));
    }
    return nb::make_tuple(get_state(data), options.kernel, options.inducing,
                          static_cast<int>(options.scale_inputs),
                          static_cast<int>(options.scale_outputs), options.jitter, course);
  }
};
using MissingInputsModel = InputsModel<MissingInputsRegression, MissingInputsOptions>;
using UncertainInputsModel = InputsModel<UncertainInputsRegression, UncertainInputsOptions>;

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

template <class Options>
Options to_options(const TrainingData& data, const KernelLike& kernel, Index inducing,
                   const std::string& scale, double jitter, std::uint64_t seed) {
  Options o;
  o.kernel = to_kernel(kernel);
  o.inducing = inducing;
  o.scale_inputs = to_scale_mode(scale, data.X);
  o.scale_outputs = to_scale_mode(scale, data.Y);
  o.jitter = jitter;
  o.seed = seed;
  return o;
}

NumpyArray once_trained(const RowMatrix& values) {
  if (values.size() == 0) throw InputError("call fit() first, which infers the inputs");
  return to_numpy(values);
}

// fit(), and what it finds of the inputs.
template <class Model>
void bind_training(nb::class_<Model>& of, const char* doc) {
  def_fit(of, doc, [](Model& self, const TrainingArguments& a) {
    return std::move(run_fit(self, a).regression);
  });
  of.def_prop_ro(
        "input_mean", [](const Model& self) { return once_trained(self.mean); },
        nb::rv_policy::move, "Means of q(X) after fit(), in the units of the data.")
      .def_prop_ro(
          "input_variance", [](const Model& self) { return once_trained(self.variance); },
          nb::rv_policy::move, "Variances of q(X) after fit(); zero where an input was known.");
}

constexpr const char* missing_doc =
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

constexpr const char* uncertain_doc =
    R"doc(Sparse regression with inputs that were observed with noise.

x ~ N(X, input_variance), and q(x) of the rows is trained with the function. ``input_variance`` is a number, one for
each column or an array like X, in squared units of X, zero where an input is known; None trains one for each
column. ``train_variance`` trains a factor for each column of the given variances. With ``move_inputs=False``
q(x) stays as observed. ``restarts`` is the number of starts, with decreasing output noise; 0 is two.

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

void bind_missing_inputs(nb::module_& m) {
  nb::class_<MissingInputsModel> missing(m, "MissingInputsRegression", missing_doc);
  bind_training(
      missing,
      "Trains in parts, each of at most max_iter iterations: the complete rows, the mapping, "
      "everything. The arguments are those of ``Regression.fit``.");
  missing
      .def(
          "__init__",
          [](MissingInputsModel* self, const ArrayLike& X, const ArrayLike& Y,
             const KernelLike& kernel, Index inducing, const std::string& scale, double jitter,
             std::uint64_t seed, const Names& input_names, const Names& output_names) {
            TrainingData data = to_training_data(X, Y, nb::none(), input_names, output_names);
            auto o = to_options<MissingInputsOptions>(data, kernel, inducing, scale, jitter, seed);
            new (self) MissingInputsModel{std::move(data), std::move(o)};
          },
          "X"_a, "Y"_a, "kernel"_a = "se(ard)", "inducing"_a = 50, "scale"_a = "columns",
          "jitter"_a = 0.0, "seed"_a = 0, "input_names"_a = nb::none(),
          "output_names"_a = nb::none())
      .def("__repr__", [](const MissingInputsModel& self) {
        return fmt::format("<MissingInputsRegression: {} rows, {} of {} inputs missing, kernel {}>",
                           self.data.X.rows(), self.data.X.array().isNaN().count(),
                           self.data.X.size(), self.options.kernel.print());
      });
}

void bind_uncertain_inputs(nb::module_& m) {
  nb::class_<UncertainInputsModel> uncertain(m, "UncertainInputsRegression", uncertain_doc);
  bind_training(
      uncertain,
      "Trains in parts, each of at most max_iter iterations: a regression of the inputs as "
      "they were observed, each start, everything. The arguments are those of "
      "``Regression.fit``.");
  uncertain
      .def(
          "__init__",
          [](UncertainInputsModel* self, const ArrayLike& X, const ArrayLike& Y,
             const ArrayLike& input_variance, bool train_variance, bool move_inputs,
             const KernelLike& kernel, Index inducing, const std::string& scale, Index restarts,
             double jitter, std::uint64_t seed, const Names& input_names,
             const Names& output_names) {
            TrainingData data = to_training_data(X, Y, nb::none(), input_names, output_names);
            auto o =
                to_options<UncertainInputsOptions>(data, kernel, inducing, scale, jitter, seed);
            o.input_variance = to_variances(input_variance, data.X.cols());
            o.train_variance = train_variance;
            o.move_inputs = move_inputs;
            o.training.starts = restarts;
            const UncertainInputsRegression checked(data.X, data.Y, o);
            new (self) UncertainInputsModel{std::move(data), std::move(o)};
          },
          "X"_a, "Y"_a, "input_variance"_a = nb::none(), "train_variance"_a = false,
          "move_inputs"_a = true, "kernel"_a = "se(ard)", "inducing"_a = 50, "scale"_a = "columns",
          "restarts"_a = 0, "jitter"_a = 0.0, "seed"_a = 0, "input_names"_a = nb::none(),
          "output_names"_a = nb::none())
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
