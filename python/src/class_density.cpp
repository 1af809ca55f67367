// Classification by the densities of the classes.
#include "covary/models/class_density.hpp"

#include <fmt/format.h>
#include <nanobind/stl/filesystem.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>

#include "arrays.hpp"
#include "bindings.hpp"
#include "covary/error.hpp"
#include "covary/models/fit.hpp"
#include "expressions.hpp"
#include "tables.hpp"
#include "targets.hpp"
#include "watch.hpp"

namespace covary::python {
namespace {

using namespace nb::literals;

#define COVARY_ARRAY "numpy.typing.NDArray[numpy.float64]"

bool is_uniform(const std::string& prior) {
  if (prior == "uniform") return true;
  if (prior == "shares") return false;
  throw InputError(fmt::format("unknown prior '{}'; choose 'shares' or 'uniform'", prior));
}

struct Densities {
  static constexpr bool limited = true;
  TrainingData data;
  ClassDensityOptions options;

  ClassDensity made(const ClassDensityOptions& o) const { return {data.X, data.Y.col(0), o}; }
  void take(const ClassDensity&, const ClassDensityOptions&) {}
  void name(ClassDensityFit& fit) const { data.name(fit); }
  Index starts(Index given) const { return std::max<Index>(1, given); }
  nb::tuple state() const {
    const GplvmOptions& o = options.gplvm;
    return nb::make_tuple(get_state(data), options.classes, options.uniform_prior, o.latent,
                          o.kernel, o.inducing, static_cast<int>(o.scale_outputs));
  }
};

ClassDensityFit fit_densities(const ArrayLike& X, const ArrayLike& y, Index latent,
                              const KernelLike& kernel, Index inducing, const std::string& prior,
                              const std::string& scale, Index restarts, Index max_iter,
                              std::uint64_t seed, const Names& classes, const Names& input_names,
                              const std::optional<std::string>& output_name,
                              std::optional<bool> progress, std::optional<double> max_seconds,
                              const nb::object& callback, const nb::object& checkpoint, bool resume,
                              const nb::object& from) {
  Targets targets = to_targets(y, "softmax", classes);
  Densities model{
      to_training_data(X, targets.y, nb::none(), input_names, name_of_target(output_name, y)), {}};
  ClassDensityOptions& o = model.options;
  o.classes = targets.classes;
  o.uniform_prior = is_uniform(prior);
  o.gplvm.latent = latent;
  o.gplvm.kernel = to_kernel(kernel);
  o.gplvm.inducing = inducing;
  o.gplvm.scale_outputs = parse_scale_mode(scale);
  return run_fit(model, {seed, restarts, max_iter, max_seconds, checkpoint, resume, from, callback,
                         nb::cast(progress)});
}

NumpyArray predict_proba(const ClassDensityFit& m, const ArrayLike& X) {
  const Rows rows = to_inputs(X, m.input_columns);
  return to_numpy(unlocked([&] { return RowMatrix(m.predict(rows.get())); }));
}

NumpyArray log_joint(const ClassDensityFit& m, const ArrayLike& X) {
  const Rows rows = to_inputs(X, m.input_columns);
  return to_numpy(unlocked([&] { return RowMatrix(m.log_joint(rows.get())); }));
}

constexpr const char* fit_doc =
    R"doc(A classifier by the density of its classes, each a Bayesian GP-LVM of the inputs: immutable, saveable.

It is what ``fit_class_density`` returns.

>>> import numpy as np, covary as cv
>>> t = np.linspace(-1, 1, 30)
>>> X = np.vstack([np.column_stack([t, t, np.sin(3 * t)]), np.column_stack([t, -t, np.cos(3 * t)])])
>>> X += 0.03 * np.random.default_rng(0).standard_normal(X.shape)
>>> fit = cv.fit_class_density(X, ["up"] * 30 + ["down"] * 30, latent=2, inducing=8, restarts=1, max_iter=50)
>>> fit.classes, fit.predict_proba(X[:2]).shape
(['down', 'up'], (2, 2))
>>> bool((fit.predict_proba(X)[:30, 1] > 0.5).mean() > 0.9)
True
)doc";

}  // namespace

void bind_class_density(nb::module_& m) {
  nb::class_<ClassDensityFit, FitNode>(m, "ClassDensityFit", fit_doc)
      .def("predict_proba", predict_proba, "X"_a, nb::rv_policy::move,
           "p(class | x), n×K, in the order of ``classes``.",
           nb::sig("def predict_proba(self, X: numpy.typing.ArrayLike) -> " COVARY_ARRAY))
      .def("log_joint", log_joint, "X"_a, nb::rv_policy::move,
           "log p(x, class), n×K: the log densities with the log prior of the classes.",
           nb::sig("def log_joint(self, X: numpy.typing.ArrayLike) -> " COVARY_ARRAY))
      .def_prop_ro("classes", [](const ClassDensityFit& s) { return s.classes; })
      .def_prop_ro("output_name", [](const ClassDensityFit& s) { return s.target(); })
      .def_prop_ro(
          "densities",
          [](const ClassDensityFit& s) {
            nb::list out;
            for (const GplvmFit& density : s.densities) out.append(nb::cast(density));
            return out;
          },
          "The latent-variable model of each class.");
  m.def("fit_class_density", fit_densities, "X"_a, "y"_a, "latent"_a = 10, "kernel"_a = "se(ard)",
        "inducing"_a = 50, "prior"_a = "shares", "scale"_a = "global", "restarts"_a = 0,
        "max_iter"_a = 1000, "seed"_a = 0, "classes"_a = nb::none(), "input_names"_a = nb::none(),
        "output_name"_a = nb::none(), "progress"_a = nb::none(), "max_seconds"_a = nb::none(),
        "callback"_a = nb::none(), "checkpoint"_a = nb::none(), "resume"_a = false,
        "from_"_a = nb::none(),
        "Trains a Bayesian GP-LVM of the inputs of each class. ``prior`` is \"shares\", the "
        "classes as "
        "frequent as their rows, or \"uniform\"; the rest is as of ``Gplvm`` and its ``fit``.");
}

}  // namespace covary::python
