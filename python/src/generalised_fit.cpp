// A trained model of any likelihood. It is immutable, so every call may release the interpreter's
// lock.
#include <fmt/format.h>
#include <nanobind/stl/filesystem.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/variant.h>
#include <nanobind/stl/vector.h>

#include "arrays.hpp"
#include "bindings.hpp"
#include "capabilities.hpp"
#include "covary/data/classification_metrics.hpp"
#include "covary/data/decisions.hpp"
#include "covary/error.hpp"
#include "covary/models/gplvm_fit.hpp"
#include "parameters.hpp"
#include "tables.hpp"
#include "targets.hpp"
#include "unlocked.hpp"

namespace covary::python {
namespace {

using namespace nb::literals;
using Moments = std::pair<nb::object, nb::object>;

#define COVARY_ARRAY "numpy.typing.NDArray[numpy.float64]"
#define COVARY_MOMENTS "tuple[" COVARY_ARRAY ", " COVARY_ARRAY "]"

GeneralisedPrediction predict(const GeneralisedFit& m, const ArrayLike& X, nb::handle aux,
                              nb::handle X_var = nb::none()) {
  const Rows rows = to_inputs(X, m.input_columns);
  const Vector beside = to_vector(aux, "aux");
  if (!X_var.is_none()) {
    const Rows variance = to_inputs(X_var, "X_var");
    return unlocked([&] { return m.predict_gaussian(rows.get(), variance.get(), beside); });
  }
  return unlocked([&] { return m.predict(rows.get(), beside); });
}

std::vector<std::string> class_names(const GeneralisedFit& fit) {
  if (!fit.classes.empty()) return fit.classes;
  std::vector<std::string> out;
  for (Index k = 0; k < fit.likelihood.classes(); ++k) out.push_back(fmt::format("{}", k));
  return out;
}

std::vector<std::string> function_names(const GeneralisedFit& fit) {
  const Index L = fit.likelihood.functions(), P = fit.outputs();
  std::vector<std::string> out;
  for (Index p = 0; p < P; ++p)
    for (Index l = 0; l < L; ++l) {
      const std::string own = L == 1 ? "f" : fmt::format("f{}", l);
      out.push_back(P == 1 ? own : own + "_" + fit.output_names[static_cast<std::size_t>(p)]);
    }
  return out;
}

// "y" of an output without a name.
std::vector<std::string> names_of_outputs(const GeneralisedFit& fit) {
  return fit.output_names.empty() ? std::vector{fit.target()} : fit.output_names;
}

Moments predict_f(const GeneralisedFit& m, const ArrayLike& X, const ArrayLike& X_var) {
  const Rows rows = to_inputs(X, m.input_columns);
  const FunctionMarginals f = X_var.is_none() ? unlocked([&] { return m.predict_f(rows.get()); })
                                              : predict(m, X, nb::none(), X_var).f;
  const auto names = function_names(m);
  return {outputs_like(X, RowMatrix(f.mean), names), outputs_like(X, RowMatrix(f.variance), names)};
}

Moments predict_y(const GeneralisedFit& m, const ArrayLike& X, const ArrayLike& aux,
                  const ArrayLike& X_var) {
  const GeneralisedPrediction p = predict(m, X, aux, X_var);
  if (p.mean.size() == 0)
    throw Unsupported(fmt::format(
        "labels of {} have no mean; predict_proba has their probabilities", m.likelihood.print()));
  const auto names = names_of_outputs(m);
  return {outputs_like(X, RowMatrix(p.mean), names), outputs_like(X, RowMatrix(p.variance), names)};
}

void require_classes(const GeneralisedFit& m) {
  if (m.likelihood.classes() == 0)
    throw Unsupported(fmt::format("{} has no classes; predict_y has the mean and variance of y",
                                  m.likelihood.print()));
}

nb::object predict_proba(const GeneralisedFit& m, const ArrayLike& X) {
  require_classes(m);
  GeneralisedPrediction p = predict(m, X, nb::none());
  return columns_like(X, RowMatrix(p.probabilities), class_names(m));
}

// The class with the least expected cost at each row, and that cost.
nb::tuple decide(const GeneralisedFit& m, const ArrayLike& X, const ArrayLike& costs) {
  require_classes(m);
  const auto names = class_names(m);
  const Matrix table = is_table(costs) ? read_costs(to_table(costs), names)
                                       : Matrix(to_inputs(costs, "costs").get());
  Decisions d = decide_classes(RowMatrix(predict(m, X, nb::none()).probabilities), table);
  nb::list labels;
  for (const double k : d.decided) labels.append(names[static_cast<std::size_t>(k)]);
  return nb::make_tuple(std::move(labels), to_numpy(std::move(d.expected_loss)));
}

nb::object log_density(const GeneralisedFit& m, const ArrayLike& X, const ArrayLike& y,
                       const ArrayLike& aux) {
  const Rows rows = to_inputs(X, m.input_columns);
  const RowMatrix targets = to_known_targets(y, m);
  const Vector beside = to_vector(aux, "aux");
  return outputs_like(
      X, unlocked([&] { return RowMatrix(m.log_density(rows.get(), targets, beside)); }),
      m.outputs() == 1 ? std::vector<std::string>{"log_density"} : m.output_names);
}

NumpyArray inducing_inputs(const GeneralisedFit& m) {
  if (!m.posterior.can(Capability::inducing))
    throw Unsupported(fmt::format("a fit by {} has no inducing inputs", m.model));
  if (!m.parameters.contains("features.Z") && !m.parameters.contains("function.0.features.Z"))
    throw InputError("these features cover all inputs and have no inducing inputs");
  if (!m.parameters.contains("features.Z"))
    throw Unsupported(
        "every latent function has inducing inputs of its own: "
        "fit.parameters['function.0.features.Z'], …, in the units the model saw");
  const Parameter& p = m.parameters.at("features.Z");
  const Eigen::Map<const RowMatrix> Z(p.value.data(), p.rows, p.cols);
  return to_numpy(m.data_inputs(Z));
}

nb::object principal_components(const GeneralisedFit& m) {
  const Pca* pca = m.input_map.pca();
  if (!pca) return nb::none();
  return nb::make_tuple(to_numpy(Vector(pca->mean)), to_numpy(RowMatrix(pca->components)),
                        to_numpy(pca->explained()));
}

nb::object latent_space(const GeneralisedFit& m) {
  const LatentFeatures* features = m.input_map.gplvm();
  return features ? nb::cast(features->fit()) : nb::none();
}

constexpr const char* fit_doc = R"doc(A trained model of any likelihood: immutable, saveable.

It is what ``Generalised.fit`` and ``Svgp.fit`` return. With one latent function, its means and
variances are vectors; with L functions they are n×L, and of P outputs n×P.

>>> import numpy as np, covary as cv
>>> X = np.linspace(-3, 3, 40).reshape(-1, 1)
>>> fit = cv.Generalised(X, np.where(np.sin(2 * X[:, 0]) > 0, "up", "down"), kernel="se").fit(seed=1)
>>> fit.classes
['down', 'up']
>>> fit.predict_proba([[0.8]]).shape
(1, 2)
>>> bool(fit.log_density([[0.8]], ["up"])[0] > np.log(0.5))
True
)doc";

nb::list components(const GeneralisedFit& m, const ArrayLike& X) {
  const Rows rows = to_inputs(X, m.input_columns);
  auto parts = unlocked([&] { return m.components(rows.get()); });
  const auto names = function_names(m);
  nb::list out;
  for (auto& part : parts)
    out.append(nb::make_tuple(part.name, outputs_like(X, std::move(part.mean), names),
                              outputs_like(X, std::move(part.variance), names)));
  return out;
}

GeneralisedFit condition(const GeneralisedFit& m, const ArrayLike& X, const ArrayLike& y,
                         const ArrayLike& noise) {
  const Rows rows = to_inputs(X, m.input_columns);
  const RowMatrix targets = to_known_targets(y, m);
  const Vector own = to_vector(noise, "noise");
  return unlocked([&] { return m.with(rows.get(), targets, own); });
}

void bind_predictions(nb::class_<GeneralisedFit, FitNode>& fit) {
  fit.def("predict_f", predict_f, "X"_a, "X_var"_a = nb::none(),
          "Mean and variance of the latent functions at each row, in the units the model saw. With "
          "X_var (n×D), of Gaussian noise, the inputs are Gaussian with these variances and the "
          "moments are over them too.",
          nb::sig("def predict_f(self, X: numpy.typing.ArrayLike, "
                  "X_var: numpy.typing.ArrayLike | None = None) -> " COVARY_MOMENTS))
      .def(
          "sample",
          [](const GeneralisedFit& m, const ArrayLike& X, Index draws, std::uint64_t seed) {
            const Rows rows = to_inputs(X, m.input_columns);
            return draws_like(X, unlocked([&] { return m.sample(rows.get(), draws, seed); }));
          },
          "X"_a, "draws"_a = 1, "seed"_a = 0,
          "Joint draws of the latent function, in the units the model saw: (draws, n), or (draws, "
          "n, L) of L functions.",
          nb::sig("def sample(self, X: numpy.typing.ArrayLike, draws: int = 1, seed: int = 0) "
                  "-> " COVARY_ARRAY))
      .def(
          "components", components, "X"_a,
          "The posterior of each term of a sum, in the units the model saw: a list of (name, mean, "
          "variance).",
          nb::sig("def components(self, X: numpy.typing.ArrayLike) "
                  "-> list[tuple[str, " COVARY_ARRAY ", " COVARY_ARRAY "]]"))
      .def(
          "gradient",
          [](const GeneralisedFit& m, const ArrayLike& X, Index function) -> Moments {
            const Rows rows = to_inputs(X, m.input_columns);
            auto g = unlocked([&] { return m.gradient(rows.get(), function); });
            const auto names = m.input_columns.names();
            return {columns_like(X, std::move(g.mean), names),
                    columns_like(X, std::move(g.variance), names)};
          },
          "X"_a, "function"_a = 0,
          "Derivatives of the mean and the variance of a latent function by the inputs: n×D each.",
          nb::sig("def gradient(self, X: numpy.typing.ArrayLike, function: int = 0) "
                  "-> " COVARY_MOMENTS))
      .def("condition", condition, "X"_a, "y"_a, "noise"_a = nb::none(),
           "A new fit with further rows and the parameters as they are: of Gaussian noise and "
           "inducing variables.")
      .def("predict_y", predict_y, "X"_a, "aux"_a = nb::none(), "X_var"_a = nb::none(),
           "Mean and variance of a new observation at each row. ``aux`` is the column beside y: "
           "exposure, trials or noise variances; ``X_var`` is as of ``predict_f``.",
           nb::sig("def predict_y(self, X: numpy.typing.ArrayLike, "
                   "aux: numpy.typing.ArrayLike | None = None, "
                   "X_var: numpy.typing.ArrayLike | None = None) -> " COVARY_MOMENTS))
      .def("predict_proba", predict_proba, "X"_a,
           "The probabilities of the classes, n×K in the order of ``classes``.",
           nb::sig("def predict_proba(self, X: numpy.typing.ArrayLike) -> " COVARY_ARRAY))
      .def("decide", decide, "X"_a, "costs"_a,
           "The class with the least expected cost at each row, and that cost. ``costs[k, j]`` is "
           "the cost of deciding class j when the class is k, in the order of ``classes``; or a "
           "table with a column 'class' and one for each class.",
           nb::sig("def decide(self, X: numpy.typing.ArrayLike, costs: numpy.typing.ArrayLike) "
                   "-> tuple[list[str], " COVARY_ARRAY "]"))
      .def("log_density", log_density, "X"_a, "y"_a, "aux"_a = nb::none(),
           "log p(y | x) of each row (and output) under the posterior, NaN where y is missing. "
           "Labels go by "
           "name; "
           "numbers by value where the classes are numbers, else by position.",
           nb::sig("def log_density(self, X: numpy.typing.ArrayLike, y: numpy.typing.ArrayLike, "
                   "aux: numpy.typing.ArrayLike | None = None) -> " COVARY_ARRAY));
}

}  // namespace

void bind_generalised_fit(nb::module_& m) {
  nb::class_<GeneralisedFit, FitNode> fit(m, "GeneralisedFit", fit_doc);
  bind_can(fit);
  bind_predictions(fit);
  fit.def_prop_ro("likelihood", [](const GeneralisedFit& s) { return s.likelihood.print(); })
      .def_prop_ro(
          "classes", [](const GeneralisedFit& s) { return s.classes; },
          "Names of the labels 0, 1, …; empty where there are none.")
      .def_prop_ro("kernel", [](const GeneralisedFit& s) { return s.posterior.kernel(); })
      .def_prop_ro("mean", [](const GeneralisedFit& s) { return s.posterior.mean(); })
      .def_prop_ro(
          "rows", [](const GeneralisedFit& s) { return s.rows; },
          "Number of training rows with a target.")
      .def_prop_ro("output_name", [](const GeneralisedFit& s) { return s.target(); })
      .def_prop_ro(
          "input_scaling",
          [](const GeneralisedFit& s) { return scaling_to_python(s.input_scaling); },
          "Shift and scale of each input column.")
      .def_prop_ro(
          "output_scaling",
          [](const GeneralisedFit& s) { return scaling_to_python(s.output_scaling); },
          "Shift and scale of y: 0 and 1 unless it is a real number in any unit.")
      .def_prop_ro("pca", principal_components,
                   "(mean, components, share of the variance) where the model sees principal "
                   "components of the scaled inputs: D, D×Q and Q. Else None.")
      .def_prop_ro("gplvm", latent_space,
                   "The GP-LVM of the scaled inputs whose latent space the model sees, along the "
                   "dimensions of ``active`` times the root of their relevance. Else None.")
      .def_prop_ro("Z", inducing_inputs, nb::rv_policy::move,
                   "The inducing inputs of a sparse model, in the units of the data: M×D.");
}

}  // namespace covary::python
