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
#include "covary/data/classification_metrics.hpp"
#include "covary/error.hpp"
#include "covary/models/compress.hpp"
#include "covary/models/model_file.hpp"
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

GeneralisedPrediction predict(const SavedGeneralised& m, const ArrayLike& X, nb::handle aux) {
  const Rows rows = to_inputs(X, m.inputs);
  const Vector beside = to_vector(aux, "aux");
  return unlocked([&] { return m.fit.predict(rows.get(), beside); });
}

std::vector<std::string> class_names(const GeneralisedFit& fit) {
  if (!fit.classes.empty()) return fit.classes;
  std::vector<std::string> out;
  for (Index k = 0; k < fit.likelihood.classes(); ++k) out.push_back(fmt::format("{}", k));
  return out;
}

std::vector<std::string> function_names(const GeneralisedFit& fit) {
  const Index L = fit.likelihood.latents();
  if (L == 1) return {"f"};
  std::vector<std::string> out;
  for (Index l = 0; l < L; ++l) out.push_back(fmt::format("f{}", l));
  return out;
}

Moments predict_f(const SavedGeneralised& m, const ArrayLike& X) {
  const Rows rows = to_inputs(X, m.inputs);
  FunctionMarginals f = unlocked([&] { return m.fit.predict_f(rows.get()); });
  const auto names = function_names(m.fit);
  return {outputs_like(X, RowMatrix(f.mean), names), outputs_like(X, RowMatrix(f.variance), names)};
}

Moments predict_y(const SavedGeneralised& m, const ArrayLike& X, const ArrayLike& aux) {
  const GeneralisedPrediction p = predict(m, X, aux);
  if (p.probabilities.size() && p.mean.size() == 0)
    throw Unsupported(
        fmt::format("labels of {} have no mean; predict_proba has their probabilities",
                    m.fit.likelihood.print()));
  const std::vector names{m.fit.output_name.empty() ? "y" : m.fit.output_name};
  return {outputs_like(X, RowMatrix(p.mean), names), outputs_like(X, RowMatrix(p.variance), names)};
}

void require_classes(const SavedGeneralised& m) {
  if (m.fit.likelihood.classes() == 0)
    throw Unsupported(fmt::format("{} has no classes; predict_y has the mean and variance of y",
                                  m.fit.likelihood.print()));
}

nb::object predict_proba(const SavedGeneralised& m, const ArrayLike& X) {
  require_classes(m);
  GeneralisedPrediction p = predict(m, X, nb::none());
  return columns_like(X, RowMatrix(p.probabilities), class_names(m.fit));
}

// The columns of `covary predict`.
nb::object predict_table(const SavedGeneralised& m, const ArrayLike& X, const ArrayLike& aux) {
  const GeneralisedPrediction p = predict(m, X, aux);
  nb::dict columns;
  const auto put = [&](const std::string& name, const Vector& v) {
    columns[name.c_str()] = to_numpy(Vector(v));
  };
  if (p.probabilities.size()) {
    const auto names = class_names(m.fit);
    nb::list decided;
    for (const double label : decided_classes(RowMatrix(p.probabilities)))
      decided.append(names[static_cast<std::size_t>(label)]);
    columns["class"] = decided;
    for (Index k = 0; k < p.probabilities.cols(); ++k)
      put("p_" + names[static_cast<std::size_t>(k)], p.probabilities.col(k));
  } else {
    put("mean", p.mean);
    put("variance", p.variance);
  }
  for (Index l = 0; l < p.f.mean.cols(); ++l) {
    const std::string suffix = p.f.mean.cols() == 1 ? "" : fmt::format("_{}", l);
    put("mean_f" + suffix, p.f.mean.col(l));
    put("variance_f" + suffix, p.f.variance.col(l));
  }
  const nb::object index = nb::hasattr(X, "iloc") ? nb::object(X.attr("index")) : nb::none();
  return nb::module_::import_("pandas").attr("DataFrame")(columns, "index"_a = index);
}

nb::object log_density(const SavedGeneralised& m, const ArrayLike& X, const ArrayLike& y,
                       const ArrayLike& aux) {
  const Rows rows = to_inputs(X, m.inputs);
  const Vector targets = to_known_targets(y, m.fit), beside = to_vector(aux, "aux");
  return outputs_like(
      X, unlocked([&] { return RowMatrix(m.fit.log_density(rows.get(), targets, beside)); }),
      {"log_density"});
}

NumpyArray inducing_inputs(const SavedGeneralised& m) {
  if (!m.fit.posterior.can(Capability::inducing))
    throw Unsupported(fmt::format("a fit by {} has no inducing inputs", m.fit.model));
  if (!m.fit.parameters.contains("features.Z") && !m.fit.parameters.contains("latent.0.features.Z"))
    throw InputError("these features cover all inputs and have no inducing inputs");
  if (!m.fit.parameters.contains("features.Z"))
    throw Unsupported(
        "every latent function has inducing inputs of its own: "
        "fit.parameters['latent.0.features.Z'], …, in the units the model saw");
  const Parameter& p = m.fit.parameters.at("features.Z");
  const Eigen::Map<const RowMatrix> Z(p.value.data(), p.rows, p.cols);
  return to_numpy(m.fit.data_inputs(Z));
}

nb::object principal_components(const SavedGeneralised& m) {
  const Pca* pca = m.fit.input_map.pca();
  if (!pca) return nb::none();
  return nb::make_tuple(to_numpy(Vector(pca->mean)), to_numpy(RowMatrix(pca->components)),
                        to_numpy(pca->explained()));
}

nb::object latent_space(const SavedGeneralised& m) {
  const LatentFeatures* features = m.fit.input_map.gplvm();
  return features ? nb::cast(SavedLatent{features->fit()}) : nb::none();
}

std::string describe(const SavedGeneralised& m) {
  const GeneralisedFit& fit = m.fit;
  const Posterior& p = fit.posterior;
  return fmt::format("{} model of {} on {} input{}, {} rows, likelihood {}{}, kernel {}, mean {}",
                     fit.model, fit.output_name, fit.inputs(), fit.inputs() == 1 ? "" : "s",
                     fit.rows, fit.likelihood.print(),
                     fit.classes.empty() ? "" : fmt::format(" ({})", fmt::join(fit.classes, ", ")),
                     p.kernel().print(), p.mean().print());
}

std::string describe_value(const GeneralisedFit& fit) {
  return fmt::format("{} {:.6g}", fit.summary.objective == "elbo" ? "elbo" : "log evidence about",
                     fit.value);
}

SavedGeneralised generalised_in(AnyModel model, const std::string& source) {
  if (auto* m = std::get_if<SavedGeneralised>(&model)) return std::move(*m);
  throw Unsupported(fmt::format("{} holds a Gaussian regression: covary.load reads it", source));
}

constexpr const char* fit_doc = R"doc(A trained model of any likelihood: immutable, saveable.

It is what ``Generalised.fit`` and ``Svgp.fit`` return. With one latent function, its means and
variances are vectors; with L functions they are n×L.

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

nb::list components(const SavedGeneralised& m, const ArrayLike& X) {
  const Rows rows = to_inputs(X, m.inputs);
  auto parts = unlocked([&] { return m.fit.components(rows.get()); });
  const auto names = function_names(m.fit);
  nb::list out;
  for (auto& part : parts)
    out.append(nb::make_tuple(part.name, outputs_like(X, std::move(part.mean), names),
                              outputs_like(X, std::move(part.variance), names)));
  return out;
}

SavedGeneralised condition(const SavedGeneralised& m, const ArrayLike& X, const ArrayLike& y,
                           const ArrayLike& noise) {
  const Rows rows = to_inputs(X, m.inputs);
  const Vector targets = to_known_targets(y, m.fit), own = to_vector(noise, "noise");
  return unlocked([&] { return SavedGeneralised{m.fit.with(rows.get(), targets, own), m.inputs}; });
}

SavedGeneralised compressed(const SavedGeneralised& m, double loss, Index most_inducing,
                            Index max_iter, std::uint64_t seed) {
  CompressOptions options;
  options.loss = loss;
  options.most_inducing = most_inducing;
  options.iterations = max_iter;
  options.seed = seed;
  return unlocked([&] { return SavedGeneralised{compress(m.fit, options).fit, m.inputs}; });
}

void bind_predictions(nb::class_<SavedGeneralised>& fit) {
  fit.def("predict_f", predict_f, "X"_a,
          "Mean and variance of the latent functions at each row, in the units the model saw.",
          nb::sig("def predict_f(self, X: numpy.typing.ArrayLike) -> " COVARY_MOMENTS))
      .def(
          "sample",
          [](const SavedGeneralised& m, const ArrayLike& X, Index draws, std::uint64_t seed) {
            const Rows rows = to_inputs(X, m.inputs);
            return draws_like(X, unlocked([&] { return m.fit.sample(rows.get(), draws, seed); }));
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
          [](const SavedGeneralised& m, const ArrayLike& X, Index function) -> Moments {
            const Rows rows = to_inputs(X, m.inputs);
            auto g = unlocked([&] { return m.fit.gradient(rows.get(), function); });
            const auto names = m.inputs.names();
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
      .def("compress", compressed, "loss"_a = 0.01, "most_inducing"_a = 500, "max_iter"_a = 200,
           "seed"_a = 0,
           "The smallest fit of inducing inputs whose posterior is within ``loss`` nats a row of "
           "this one.")
      .def("predict_y", predict_y, "X"_a, "aux"_a = nb::none(),
           "Mean and variance of a new observation at each row. ``aux`` is the column beside y: "
           "exposure, trials or noise variances.",
           nb::sig("def predict_y(self, X: numpy.typing.ArrayLike, "
                   "aux: numpy.typing.ArrayLike | None = None) -> " COVARY_MOMENTS))
      .def("predict_proba", predict_proba, "X"_a,
           "The probabilities of the classes, n×K in the order of ``classes``.",
           nb::sig("def predict_proba(self, X: numpy.typing.ArrayLike) -> " COVARY_ARRAY))
      .def("predict_table", predict_table, "X"_a, "aux"_a = nb::none(),
           "A pandas table with the columns of ``covary predict``.")
      .def("log_density", log_density, "X"_a, "y"_a, "aux"_a = nb::none(),
           "log p(y | x) of each row under the posterior, NaN where y is missing. Labels go by "
           "name; "
           "numbers by value where the classes are numbers, else by position.",
           nb::sig("def log_density(self, X: numpy.typing.ArrayLike, y: numpy.typing.ArrayLike, "
                   "aux: numpy.typing.ArrayLike | None = None) -> " COVARY_ARRAY));
}

void bind_storage(nb::class_<SavedGeneralised>& fit) {
  fit.def(
         "save",
         [](const SavedGeneralised& m, const std::filesystem::path& path) {
           unlocked([&] { save_model(path.string(), m); });
         },
         "path"_a, "Writes the model file, which the command line reads too.")
      .def_static(
          "load",
          [](const std::filesystem::path& path) {
            return unlocked(
                [&] { return generalised_in(load_any_model(path.string()), path.string()); });
          },
          "path"_a, "Reads a model file, by whichever door it was written.")
      .def("__getstate__",
           [](const SavedGeneralised& m) {
             const auto bytes = unlocked([&] { return save_model_bytes(m); });
             return nb::bytes(bytes.data(), bytes.size());
           })
      .def("__setstate__",
           [](SavedGeneralised& m, const nb::bytes& state) {
             const std::span bytes(static_cast<const std::byte*>(state.data()), state.size());
             new (&m) SavedGeneralised(unlocked(
                 [&] { return generalised_in(load_any_model_bytes(bytes), "the pickle"); }));
           })
      .def("__copy__", [](nb::handle self) { return nb::borrow(self); })
      .def(
          "__deepcopy__", [](nb::handle self, nb::handle) { return nb::borrow(self); }, "memo"_a);
}

}  // namespace

void bind_generalised_fit(nb::module_& m) {
  nb::class_<SavedGeneralised> fit(m, "GeneralisedFit", fit_doc);
  bind_predictions(fit);
  bind_storage(fit);
  fit.def_prop_ro(
         "value", [](const SavedGeneralised& s) { return s.fit.value; },
         "The log evidence as the method approximates it, or its lower bound for \"vgp\" and "
         "\"svgp\": in nats, in the units of the data, without log priors.")
      .def_prop_ro("log_prior", [](const SavedGeneralised& s) { return s.fit.log_prior; })
      .def_prop_ro(
          "model", [](const SavedGeneralised& s) { return s.fit.model; },
          "\"laplace\", \"ep\", \"ep(0.5)\", \"vgp\", \"svgp\", \"fitc\" or \"pep(0.5)\".")
      .def_prop_ro("likelihood", [](const SavedGeneralised& s) { return s.fit.likelihood.print(); })
      .def_prop_ro(
          "classes", [](const SavedGeneralised& s) { return s.fit.classes; },
          "Names of the labels 0, 1, …; empty where there are none.")
      .def_prop_ro("kernel", [](const SavedGeneralised& s) { return s.fit.posterior.kernel(); })
      .def_prop_ro("mean", [](const SavedGeneralised& s) { return s.fit.posterior.mean(); })
      .def_prop_ro(
          "parameters", [](const SavedGeneralised& s) { return s.fit.parameters; },
          "A copy, in the units the model saw.")
      .def_prop_ro("summary", [](const SavedGeneralised& s) { return s.fit.summary; })
      .def_prop_ro(
          "diagnostics",
          [](const SavedGeneralised& s) {
            nb::dict out;
            for (const auto& [name, value] : s.fit.diagnostics) out[name.c_str()] = value;
            return out;
          },
          "What else the inference has to say, by name.",
          nb::sig("def diagnostics(self) -> dict[str, float]"))
      .def_prop_ro(
          "rows", [](const SavedGeneralised& s) { return s.fit.rows; },
          "Of the training data, with a target.")
      .def_prop_ro("input_names", [](const SavedGeneralised& s) { return s.inputs.names(); })
      .def_prop_ro("output_name", [](const SavedGeneralised& s) { return s.fit.output_name; })
      .def_prop_ro(
          "input_scaling",
          [](const SavedGeneralised& s) { return scaling_to_python(s.fit.input_scaling); },
          "Shift and scale of each input column.")
      .def_prop_ro(
          "output_scaling",
          [](const SavedGeneralised& s) { return scaling_to_python(s.fit.output_scaling); },
          "Shift and scale of y: 0 and 1 unless it is a real number in any unit.")
      .def_prop_ro("pca", principal_components,
                   "(mean, components, share of the variance) where the model sees principal "
                   "components of the scaled inputs: D, D×Q and Q. Else None.")
      .def_prop_ro("gplvm", latent_space,
                   "The GP-LVM of the scaled inputs whose latent space the model sees, along the "
                   "dimensions of ``active`` times the root of their relevance. Else None.")
      .def_prop_ro("Z", inducing_inputs, nb::rv_policy::move,
                   "The inducing inputs of a sparse model, in the units of the data: M×D.")
      .def("__repr__",
           [](const SavedGeneralised& s) {
             return fmt::format("<{}: {}>", describe(s), describe_value(s.fit));
           })
      .def("__str__",
           [](const SavedGeneralised& s) {
             return fmt::format("{}\n{}\n\n{}", describe(s), s.fit.summary.brief(),
                                s.fit.parameters.table());
           })
      .def("_repr_html_", [](const SavedGeneralised& s) {
        return fmt::format("<p>{}<br>{}</p>{}", describe(s), describe_value(s.fit),
                           html_table(s.fit.parameters));
      });
  m.def(
      "load",
      [](const std::filesystem::path& path) {
        return unlocked([&] { return load_any_model(path.string()); });
      },
      "path"_a, "Reads a model file of either kind, by whichever door it was written.");
}

}  // namespace covary::python
