#include "covary/models/svgp.hpp"

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

Svgp make(const TrainingData& data, const SvgpOptions& options) {
  return {data.X, data.Y, options};
}

// As many inducing variables, whose parameters will be replaced, without choosing inputs first.
// Those of a latent space that is yet to be trained will be chosen again, and stay as they were.
SvgpOptions with_inducing(const TrainingData& data, SvgpOptions options, Index M) {
  if (options.gplvm > 0 && !options.input_map) return options;
  if (options.features.inputs(1) > 0)
    options.Z = data.X.topRows(1).replicate(M, 1);
  else
    options.inducing = M;
  return options;
}

// The same model at its parameters, inducing variables included.
Svgp at_parameters(const TrainingData& data, const SvgpOptions& options, const Svgp& model) {
  Svgp out = make(data, with_inducing(data, options, model.inducing()));
  out.start_from(model);
  return out;
}

// Chosen as the model was, so that it knows what of its inducing variables has been set since.
// Another seed may have chosen fewer: then as many as there were.
Svgp made_of(const TrainingData& data, const SvgpOptions& options, Index M) {
  return unlocked([&] {
    Svgp out = make(data, options);
    return out.inducing() == M ? std::move(out) : make(data, with_inducing(data, options, M));
  });
}

// A model with its data in their own units, so that fit() may set the options of training.
struct SvgpModel {
  TrainingData data;
  SvgpOptions options;
  Svgp svgp;

  Svgp made(const SvgpOptions& o) const {
    Svgp out = made_of(data, o, svgp.inducing());
    out.start_from(svgp);
    return out;
  }
  void take(const Svgp& trained, const SvgpOptions&) {
    if (options.gplvm > 0 && !options.input_map) {
      options.input_map = trained.input_map();
      svgp = make(data, with_inducing(data, options, trained.inducing()));
    }
    svgp.parameters() = trained.parameters();
  }
  void name(GeneralisedFit& fit) const { data.name(fit); }
  Index starts(Index given) const { return std::max<Index>(1, given); }
  nb::tuple state() const;
};

nb::tuple SvgpModel::state() const {
  const SvgpOptions& o = options;
  const TrainingOptions& r = o.training;
  return nb::make_tuple(
      get_state(data), python::get_state(with_function_options<FunctionOptions>(o)), o.inducing,
      static_cast<int>(o.selection), to_numpy(RowMatrix(o.Z)), o.covariance.print(), o.jitter,
      r.batch, r.steps, r.epochs, r.natural_step, r.learning_rate.rate,
      print(r.learning_rate.schedule), r.final_sweeps, svgp.inducing(), svgp.parameters(),
      r.adam_every, o.features.print(), r.learning_rate.decay, r.learning_rate.every,
      r.learning_rate.warm_up, o.functions, trained_map(o.input_map));
}

SvgpModel from_state(const nb::tuple& t) {
  auto o = with_function_options<SvgpOptions>(function_options_from(nb::cast<nb::tuple>(t[1])));
  o.inducing = nb::cast<Index>(t[2]);
  o.selection = static_cast<Selection>(nb::cast<int>(t[3]));
  o.Z = to_inputs(t[4]).get();
  o.covariance = nb::cast<std::string>(t[5]);
  o.jitter = nb::cast<double>(t[6]);
  o.training.batch = nb::cast<Index>(t[7]);
  o.training.steps = nb::cast<Index>(t[8]);
  o.training.epochs = nb::cast<Index>(t[9]);
  o.training.natural_step = nb::cast<double>(t[10]);
  o.training.learning_rate.rate = nb::cast<double>(t[11]);
  o.training.learning_rate.schedule = parse_schedule(nb::cast<std::string>(t[12]));
  o.training.final_sweeps = nb::cast<Index>(t[13]);
  o.training.adam_every = nb::cast<Index>(t[16]);
  o.features = nb::cast<std::string>(t[17]);
  o.training.learning_rate.decay = nb::cast<double>(t[18]);
  o.training.learning_rate.every = nb::cast<Index>(t[19]);
  o.training.learning_rate.warm_up = nb::cast<Index>(t[20]);
  o.functions = nb::cast<Index>(t[21]);
  o.input_map = map_from(t[22]);
  TrainingData data = training_data_from(nb::cast<nb::tuple>(t[0]));
  Svgp svgp = made_of(data, o, nb::cast<Index>(t[14]));
  svgp.parameters() = nb::cast<Parameters>(t[15]);
  return {std::move(data), std::move(o), std::move(svgp)};
}

SvgpModel copy(const SvgpModel& m) {
  return {m.data, m.options, at_parameters(m.data, m.options, m.svgp)};
}

constexpr const char* model_doc =
    R"doc(Sparse variational inference for any likelihood, to be trained.

y_n ~ p(y | f(x_n)) with f a Gaussian process summarised by M inducing variables: classes, counts,
outliers on any number of rows. X, y, ``likelihood``, ``weights``, ``aux``, ``classes``,
``separate_kernels``, ``scale``, ``pca`` and ``gplvm`` are as in ``Generalised``.

``inducing`` is the number of inducing inputs (None: 100, or all rows if fewer) or an array of them, in
the units of the data; ``selection`` and ``features`` are as in ``SparseRegression``. ``covariance`` of q(u) is
"full", "blocks(20)" or "diagonal". ``batch`` is the number of rows of a minibatch; 0 is all rows up to
20 000, trained by L-BFGS, else 1024, trained by natural gradients of length ``natural_step`` and
by Adam at ``learning_rate`` with every batch, or every ``adam_every`` batches, for ``epochs`` passes
or ``steps`` (0: twenty passes, but 2000 to 20 000 steps). The rate rises from zero over ``warm_up``
steps and follows the ``schedule``, "constant", "exponential", "steps" or "cosine", down to the share ``decay``
over ``every`` steps (0: all of them).

Several columns of numbers in y are as many outputs, NaN where missing, which share the kernel; with
``functions`` they are mixtures of so many latent functions, whose weights are trained.

>>> import numpy as np, covary as cv
>>> random = np.random.default_rng(0)
>>> X = random.uniform(-2, 2, (300, 2))
>>> y = np.where(X[:, 0] * X[:, 1] > 0, "same", "opposite")
>>> fit = cv.Svgp(X, y, likelihood="bernoulli", inducing=20).fit(max_iter=20)
>>> fit.classes, fit.Z.shape
(['opposite', 'same'], (20, 2))
>>> bool(fit.predict_proba([[1.0, 1.0]])[0, 1] > 0.9)
True
>>> Y = np.column_stack([np.sin(X[:, 0]), np.cos(X[:, 0]), np.sin(X[:, 0]) + 1])
>>> two = cv.Svgp(X, Y, likelihood="gaussian", inducing=10, functions=2).fit(max_iter=20)
>>> two.predict_y(X[:4])[0].shape, two.parameters["mixing.weights"].shape
((4, 3), (3, 2))
)doc";

constexpr const char* fit_doc =
    R"doc(Trains from the current parameters, which become the best found.

The arguments are those of ``Regression.fit``; without a ``seed`` the model's own is used. ``max_iter``
limits L-BFGS, whose parts count their iterations from 1 for the callback; ``max_iter=0`` only evaluates.
With minibatches the callback sees every step of Adam, with the bound averaged over some steps; it is not
called at first, while only q moves.
)doc";

}  // namespace

void bind_svgp(nb::module_& m) {
  nb::class_<SvgpModel> of(m, "Svgp", model_doc);
  def_fit(of, fit_doc);
  of.def(
        "__init__",
        [](SvgpModel* self, const ArrayLike& X, const ArrayLike& y, const KernelLike& kernel,
           const std::string& likelihood, const MeanLike& mean, const ArrayLike& inducing,
           const std::string& selection, const std::string& features, const std::string& covariance,
           Index batch, Index epochs, Index steps, double natural_step, double learning_rate,
           const std::string& schedule, double decay, Index every, Index warm_up, Index adam_every,
           const ArrayLike& weights, const ArrayLike& aux, const Names& classes,
           std::optional<bool> separate_kernels, const std::string& scale, Index pca, Index gplvm,
           double jitter, std::uint64_t seed, Index functions, const Names& input_names,
           const std::optional<std::string>& output_name, const Names& output_names) {
          Targets targets = to_targets(y, likelihood, classes, true);
          TrainingData data =
              to_training_data(X, targets.y, nb::none(), input_names,
                               output_names ? output_names : name_of_target(output_name, y));
          auto o = with_function_options<SvgpOptions>(
              to_function_options({kernel, mean, aux, weights, separate_kernels, scale, pca, gplvm},
                                  std::move(targets), data));
          o.functions = functions;
          // Outputs of their own functions share the kernel, and mixtures are of different ones.
          if (!separate_kernels && data.Y.cols() > 1 && functions == 0 &&
              o.likelihood.functions() == 1)
            o.separate_kernels = false;
          Inducing asked = to_inducing(inducing, data, "100 inducing inputs, or all rows if fewer");
          o.inducing = asked.number.value_or(0);
          o.Z = std::move(asked.Z);
          o.selection = parse_selection(selection);
          o.features = features;
          o.covariance = covariance;
          o.training.batch = batch;
          o.training.epochs = epochs;
          o.training.steps = steps;
          o.training.natural_step = natural_step;
          o.training.learning_rate = {learning_rate, parse_schedule(schedule), decay, every,
                                      warm_up};
          o.training.adam_every = adam_every;
          o.jitter = jitter;
          o.seed = seed;
          Svgp svgp = unlocked([&] { return make(data, o); });
          new (self) SvgpModel{std::move(data), std::move(o), std::move(svgp)};
        },
        "X"_a, "y"_a, "kernel"_a = "se(ard)", "likelihood"_a = "bernoulli", "mean"_a = "zero",
        "inducing"_a = nb::none(), "selection"_a = "greedy_variance", "features"_a = "points",
        "covariance"_a = "full", "batch"_a = 0, "epochs"_a = 0, "steps"_a = 0,
        "natural_step"_a = 0.1, "learning_rate"_a = 0.02, "schedule"_a = "cosine", "decay"_a = 0.05,
        "every"_a = 0, "warm_up"_a = 0, "adam_every"_a = 1, "weights"_a = nb::none(),
        "aux"_a = nb::none(), "classes"_a = nb::none(), "separate_kernels"_a = nb::none(),
        "scale"_a = "auto", "pca"_a = 0, "gplvm"_a = 0, "jitter"_a = 0.0, "seed"_a = 0,
        "functions"_a = 0, "input_names"_a = nb::none(), "output_name"_a = nb::none(),
        "output_names"_a = nb::none())
      .def(
          "elbo",
          [](const SvgpModel& self) {
            const SvgpModel own = copy(self);
            return unlocked([&] { return own.svgp.elbo(); });
          },
          "The bound at the current parameters and the best q, in the units of the data.")
      .def_prop_ro(
          "parameters", [](SvgpModel& self) -> Parameters& { return self.svgp.parameters(); },
          nb::rv_policy::reference_internal, "In the units the model sees.")
      .def_prop_ro("kernel", [](const SvgpModel& self) { return self.options.kernel; })
      .def_prop_ro("mean", [](const SvgpModel& self) { return self.options.mean; })
      .def_prop_ro("likelihood",
                   [](const SvgpModel& self) { return self.options.likelihood.print(); })
      .def_prop_ro("classes", [](const SvgpModel& self) { return self.options.classes; })
      .def_prop_ro(
          "batch", [](const SvgpModel& self) { return self.svgp.batch(); },
          "Rows of a minibatch: all of them where training is by L-BFGS.")
      .def_prop_ro("warnings", [](const SvgpModel& self) { return self.svgp.warnings(); })
      .def_prop_ro("input_names", [](const SvgpModel& self) { return self.data.input_names; })
      .def("__copy__", copy)
      .def(
          "__deepcopy__", [](const SvgpModel& self, nb::handle) { return copy(self); }, "memo"_a)
      .def("__getstate__", &SvgpModel::state)
      .def("__setstate__", [](SvgpModel& self,
                              const nb::tuple& state) { new (&self) SvgpModel(from_state(state)); })
      .def("__repr__",
           [](const SvgpModel& self) {
             return fmt::format(
                 "<Svgp: {} rows, {} inducing {}, likelihood {}, kernel {}, mean {}>",
                 self.data.X.rows(), self.svgp.inducing(),
                 self.options.features.is_points() ? "inputs"
                                                   : self.options.features.print() + " features",
                 self.options.likelihood.print(), self.options.kernel.print(),
                 self.options.mean.print());
           })
      .def("_repr_html_", [](const SvgpModel& self) { return html_table(self.svgp.parameters()); });
}

}  // namespace covary::python
