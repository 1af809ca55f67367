#include "covary/models/generalised.hpp"

#include <fmt/format.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "arrays.hpp"
#include "bindings.hpp"
#include "covary/error.hpp"
#include "covary/models/fit.hpp"
#include "function_options.hpp"
#include "inducing.hpp"
#include "parameters.hpp"
#include "watch.hpp"

namespace covary::python {
namespace {

using namespace nb::literals;

Generalised make(const TrainingData& data, const GeneralisedOptions& options) {
  return {data.X, Vector(data.Y.col(0)), options};
}

// With as many inducing variables, which will be replaced, without choosing them first. Those of a
// latent space that is yet to be trained will be chosen again, and stay as they were.
GeneralisedOptions with_inducing(const TrainingData& data, GeneralisedOptions options,
                                 Index inducing) {
  if (inducing == 0 || (options.gplvm != 0 && !options.input_map)) return options;
  if (options.features.inputs(1) > 0)
    options.Z = data.X.topRows(1).replicate(inducing, 1);
  else
    options.inducing = inducing;
  return options;
}

// Chosen as the model was, so that it knows what of its inducing variables has been set since.
// Another seed may have chosen fewer: then as many as there were.
Generalised made_of(const TrainingData& data, const GeneralisedOptions& options, Index M) {
  return unlocked([&] {
    Generalised out = make(data, options);
    return out.inducing() == M ? std::move(out) : make(data, with_inducing(data, options, M));
  });
}

// A model with its data in their own units, so that fit() may set the options of training.
struct GeneralisedModel {
  TrainingData data;
  GeneralisedOptions options;
  Generalised model;

  Generalised made(const GeneralisedOptions& o) const {
    Generalised out = made_of(data, o, model.inducing());
    out.start_from(model);
    return out;
  }
  void take(const Generalised& trained, const GeneralisedOptions&) {
    if (options.gplvm > 0 && !options.input_map) {
      options.input_map = trained.input_map();
      model = make(data, with_inducing(data, options, trained.inducing()));
    }
    model.parameters() = trained.parameters();
  }
  void name(GeneralisedFit& fit) const { data.name(fit); }
  Index starts(Index given) const { return given ? given : model.starts(); }
  nb::tuple state() const;
};

Inference to_method(const std::string& name, double power) {
  if (name == "laplace") return Inference::laplace;
  if (name == "ep") return Inference::ep;
  if (name == "vgp") return Inference::vi;
  if (name == "fitc" && power != 1.0)
    throw InputError(fmt::format("fitc has power 1; for power {} use method='pep'", power));
  if (name == "fitc" || name == "pep") return Inference::sparse_ep;
  throw InputError(
      fmt::format("unknown method '{}'; choose 'laplace', 'ep', 'vgp', 'fitc' or 'pep'", name));
}

nb::tuple GeneralisedModel::state() const {
  const GeneralisedOptions& o = options;
  return nb::make_tuple(
      get_state(data), python::get_state(with_function_options<FunctionOptions>(o)),
      static_cast<int>(o.method), o.power, o.inducing, static_cast<int>(o.selection),
      to_numpy(RowMatrix(o.Z)), o.jitter, model.inducing(), model.parameters(),
      trained_map(o.input_map), o.features.print());
}

GeneralisedModel from_state(const nb::tuple& t) {
  auto o =
      with_function_options<GeneralisedOptions>(function_options_from(nb::cast<nb::tuple>(t[1])));
  o.method = static_cast<Inference>(nb::cast<int>(t[2]));
  o.power = nb::cast<double>(t[3]);
  o.inducing = nb::cast<Index>(t[4]);
  o.selection = static_cast<Selection>(nb::cast<int>(t[5]));
  o.Z = to_inputs(t[6]).get();
  o.jitter = nb::cast<double>(t[7]);
  o.input_map = map_from(t[10]);
  o.features = nb::cast<std::string>(t[11]);
  TrainingData data = training_data_from(nb::cast<nb::tuple>(t[0]));
  Generalised model = made_of(data, o, nb::cast<Index>(t[8]));
  model.parameters() = nb::cast<Parameters>(t[9]);
  return {std::move(data), std::move(o), std::move(model)};
}

constexpr const char* model_doc = R"doc(A Gaussian process behind any likelihood, to be trained.

y_n ~ p(y | f(x_n)) with f a Gaussian process: classes, counts, outliers. X is N×D; y is N, NaN or None
where missing. Both may be pandas. An evaluation costs O(N³); for many rows use ``Svgp``.

``likelihood`` is an expression such as "bernoulli(probit)", "poisson", "student_t", "softmax".
``method`` is "laplace", "ep" (with ``power`` up to 1) or "vgp", full variational inference; or EP through
inducing variables, "fitc" or, with ``power``, "pep", in O(N·M²). These take ``inducing``, ``selection``,
``features`` and ``jitter`` as ``Svgp`` does, and ``seed`` for the selection. ``aux`` is the column beside y: exposure,
trials or known noise variances. ``weights`` multiply the log-likelihoods of the rows: 2 counts a row
twice, 0 leaves it out; EP takes whole numbers. For likelihoods of classes y holds
labels, text or whole numbers; where ``classes`` names them in order, numbers in y are positions there.
With ``separate_kernels`` each of several latent functions has its own kernel; None means yes, except for
the classes of one model. ``scale`` is "auto", "columns", "global" or "none". With ``pca`` the model sees this many
principal components of the scaled inputs; with ``gplvm`` the latent space, of at most this many dimensions, that a
Bayesian GP-LVM finds when the model is fitted, also from rows without a target; 0 uses the inputs themselves.

>>> import numpy as np, covary as cv
>>> X = np.linspace(0, 5, 60).reshape(-1, 1)
>>> counts = np.random.default_rng(0).poisson(np.exp(1 + np.sin(X[:, 0])))
>>> model = cv.Generalised(X, counts, kernel="se", likelihood="poisson", mean="constant")
>>> before = model.value()
>>> fit = model.fit(seed=1)
>>> fit.value > before
True
>>> mean, variance = fit.predict_y(X)
>>> bool((variance > mean).all())
True
>>> few = cv.Generalised(X, counts, likelihood="poisson", method="pep", power=0.5, inducing=8).fit(max_iter=20)
>>> few.model, few.Z.shape
('pep(0.5)', (8, 1))
)doc";

constexpr const char* fit_doc =
    R"doc(Trains from the current parameters, which become the best found.

The arguments are those of ``Regression.fit``; ``restarts=0`` is three starts up to 300 rows, else one,
and one with inducing inputs, whose training has two parts that count iterations from 1.
)doc";

}  // namespace

void bind_generalised(nb::module_& m) {
  nb::class_<GeneralisedModel> of(m, "Generalised", model_doc);
  def_fit(of, fit_doc);
  of.def(
        "__init__",
        [](GeneralisedModel* self, const ArrayLike& X, const ArrayLike& y, const KernelLike& kernel,
           const std::string& likelihood, const std::string& method, double power,
           const MeanLike& mean, const ArrayLike& weights, const ArrayLike& aux,
           const Names& classes, std::optional<bool> separate_kernels, const std::string& scale,
           Index pca, Index gplvm, const ArrayLike& inducing, const std::string& selection,
           const std::string& features, double jitter, std::uint64_t seed, const Names& input_names,
           const std::optional<std::string>& output_name) {
          Targets targets = to_targets(y, likelihood, classes);
          TrainingData data = to_training_data(X, targets.y, nb::none(), input_names,
                                               name_of_target(output_name, y));
          auto options = with_function_options<GeneralisedOptions>(
              to_function_options({kernel, mean, aux, weights, separate_kernels, scale, pca, gplvm},
                                  std::move(targets), data));
          options.method = to_method(method, power);
          options.power = power;
          Inducing asked = to_inducing(inducing, data, "100 inducing inputs, or all rows if fewer");
          options.inducing = asked.number.value_or(0);
          options.Z = std::move(asked.Z);
          options.selection = parse_selection(selection);
          options.features = features;
          options.jitter = jitter;
          options.seed = seed;
          Generalised model = unlocked([&] { return make(data, options); });
          new (self) GeneralisedModel{std::move(data), std::move(options), std::move(model)};
        },
        "X"_a, "y"_a, "kernel"_a = "se(ard)", "likelihood"_a = "bernoulli", "method"_a = "laplace",
        "power"_a = 1.0, "mean"_a = "zero", "weights"_a = nb::none(), "aux"_a = nb::none(),
        "classes"_a = nb::none(), "separate_kernels"_a = nb::none(), "scale"_a = "auto",
        "pca"_a = 0, "gplvm"_a = 0, "inducing"_a = nb::none(), "selection"_a = "greedy_variance",
        "features"_a = "points", "jitter"_a = 0.0, "seed"_a = 0, "input_names"_a = nb::none(),
        "output_name"_a = nb::none())
      .def(
          "value",
          [](const GeneralisedModel& self) {
            const Generalised copy = self.model;
            return unlocked([&] { return copy.value(); });
          },
          "The log evidence as the method approximates it, or its lower bound for \"vgp\", at the "
          "current parameters and in the units of the data.")
      .def_prop_ro(
          "parameters",
          [](GeneralisedModel& self) -> Parameters& { return self.model.parameters(); },
          nb::rv_policy::reference_internal, "In the units the model sees.")
      .def_prop_ro("kernel", [](const GeneralisedModel& self) { return self.options.kernel; })
      .def_prop_ro("mean", [](const GeneralisedModel& self) { return self.options.mean; })
      .def_prop_ro("likelihood",
                   [](const GeneralisedModel& self) { return self.options.likelihood.print(); })
      .def_prop_ro(
          "method", [](const GeneralisedModel& self) { return self.model.name(); },
          "\"laplace\", \"ep\", \"ep(0.5)\", \"vgp\", \"fitc\" or \"pep(0.5)\".")
      .def_prop_ro("classes", [](const GeneralisedModel& self) { return self.options.classes; })
      .def_prop_ro("warnings", [](const GeneralisedModel& self) { return self.model.warnings(); })
      .def_prop_ro("input_names",
                   [](const GeneralisedModel& self) { return self.data.input_names; })
      .def("__copy__", [](const GeneralisedModel& self) { return self; })
      .def(
          "__deepcopy__", [](const GeneralisedModel& self, nb::handle) { return self; }, "memo"_a)
      .def("__getstate__", &GeneralisedModel::state)
      .def("__setstate__",
           [](GeneralisedModel& self, const nb::tuple& state) {
             new (&self) GeneralisedModel(from_state(state));
           })
      .def("__repr__",
           [](const GeneralisedModel& self) {
             return fmt::format("<Generalised: {}, {} rows, likelihood {}, kernel {}, mean {}>",
                                self.model.name(), self.data.X.rows(),
                                self.options.likelihood.print(), self.options.kernel.print(),
                                self.options.mean.print());
           })
      .def("_repr_html_",
           [](const GeneralisedModel& self) { return html_table(self.model.parameters()); });
}

}  // namespace covary::python
