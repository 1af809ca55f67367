// GP-LVMs whose latent inputs are points, and what training makes of them.
#include "covary/models/map_gplvm.hpp"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>

#include "bindings.hpp"
#include "expressions.hpp"
#include "latent_space.hpp"
#include "parameters.hpp"
#include "tables.hpp"
#include "watch.hpp"

namespace covary::python {
namespace {

using namespace nb::literals;

// A model with its data in their own units, so that fit() may set the options of training.
struct MapGplvmModel {
  static constexpr bool limited = true;
  RowMatrix Y;
  MapGplvmOptions options;
  MapGplvm gplvm;

  MapGplvm made(const MapGplvmOptions& o) const {
    MapGplvm out = unlocked([&] { return MapGplvm(Y, o); });
    out.parameters() = gplvm.parameters();
    return out;
  }
  void take(const MapGplvm& trained, const MapGplvmOptions&) {
    gplvm.parameters() = trained.parameters();
  }
  void name(MapGplvmFit& fit) const { name_columns(fit, Y.cols(), options.times.cols()); }
  Index starts(Index given) const { return std::max<Index>(1, given); }
  nb::tuple state() const {
    const MapGplvmOptions& o = options;
    const RecognitionOptions back = o.back_constraint.value_or(RecognitionOptions{.form = ""});
    return nb::make_tuple(to_numpy(RowMatrix(Y)), o.kernel, o.latent, to_state(o.views),
                          to_numpy(RowMatrix(o.times)), o.dynamics, o.sequences, back.form,
                          back.lengthscale, back.hidden, o.labels, o.discriminative, o.prior,
                          static_cast<int>(o.scale_outputs), o.snr, o.jitter);
  }
};

constexpr const char* model_doc =
    R"doc(A GP-LVM whose latent inputs are points (Lawrence 2005), to be trained.

Y is N×P, NaN where missing. ``latent`` dimensions are all used: nothing switches them off. ``views`` is a
dictionary of names and lists of columns, each with a mapping of its own from one latent space; ``times``
(N or N×d) are what the inputs follow by Gaussian processes with the kernel ``dynamics``, independent
between ``sequences``, which are given by their first rows. ``back_constraint`` is "kernel" or "network":
the inputs are then a function of the rows. ``labels`` (numbers from 0 on, −1 where unknown) are kept
apart by a prior of strength ``discriminative``. ``prior=False`` leaves N(0, I) out.

>>> import numpy as np, covary as cv
>>> t = np.linspace(-1.5, 1.5, 40)
>>> noise = 0.02 * np.random.default_rng(0).standard_normal((40, 4))
>>> Y = np.column_stack([t, np.sin(2 * t), t**2, np.tanh(2 * t)]) + noise
>>> fit = cv.MapGplvm(Y, latent=1, back_constraint="kernel").fit(max_iter=100)
>>> fit.X.shape, bool(np.allclose(fit.place(Y), fit.X))
((40, 1), True)
>>> mean, variance = fit.decode(fit.X)
>>> bool(abs(mean - Y).mean() < 0.1)
True
)doc";

void bind_model(nb::module_& m) {
  nb::class_<MapGplvmModel> of(m, "MapGplvm", model_doc);
  def_fit(
      of,
      "Trains from the current parameters, and from further starts; the best is kept. The "
      "arguments are those of ``Regression.fit``; ``restarts=0`` is the number that the model was "
      "made with.");
  of.def(
        "__init__",
        [](MapGplvmModel* self, const ArrayLike& Y, Index latent, const KernelLike& kernel,
           const nb::object& views, const ArrayLike& times, const KernelLike& dynamics,
           const std::vector<Index>& sequences, const std::optional<std::string>& back_constraint,
           double back_lengthscale, Index hidden, const std::vector<Index>& labels,
           double discriminative, bool prior, const std::string& scale, double snr, Index restarts,
           double jitter, std::uint64_t seed) {
          RowMatrix data = to_outputs(Y).get();
          MapGplvmOptions o;
          o.latent = latent;
          o.kernel = to_kernel(kernel);
          o.views = to_views(views);
          o.times = table_or_nothing(times, "times");
          o.dynamics = to_kernel(dynamics);
          o.sequences = sequences;
          if (back_constraint)
            o.back_constraint =
                RecognitionOptions{*back_constraint, Kernel("se"), back_lengthscale, hidden, seed};
          o.labels = labels;
          o.discriminative = discriminative;
          o.prior = prior;
          o.scale_outputs = parse_scale_mode(scale);
          o.snr = snr;
          o.training.starts = restarts;
          o.jitter = jitter;
          o.seed = seed;
          MapGplvm model = unlocked([&] { return MapGplvm(data, o); });
          new (self) MapGplvmModel{std::move(data), std::move(o), std::move(model)};
        },
        "Y"_a, "latent"_a = 2, "kernel"_a = "se", "views"_a = nb::none(), "times"_a = nb::none(),
        "dynamics"_a = "se + white", "sequences"_a = std::vector<Index>(),
        "back_constraint"_a = nb::none(), "back_lengthscale"_a = 1.0, "hidden"_a = 20,
        "labels"_a = std::vector<Index>(), "discriminative"_a = 0.0, "prior"_a = true,
        "scale"_a = "global", "snr"_a = 100.0, "restarts"_a = 0, "jitter"_a = 0.0, "seed"_a = 0)
      .def(
          "log_likelihood",
          [](const MapGplvmModel& self) {
            return unlocked([&] { return self.gplvm.log_likelihood(); });
          },
          "log p(Y | X) at the current parameters, in the units of the data.")
      .def_prop_ro(
          "parameters", [](MapGplvmModel& self) -> Parameters& { return self.gplvm.parameters(); },
          nb::rv_policy::reference_internal, "In the units the model sees.")
      .def_prop_ro("warnings", [](const MapGplvmModel& self) { return self.gplvm.warnings(); })
      .def("__repr__", [](const MapGplvmModel& self) {
        return fmt::format("<MapGplvm: {}×{} outputs, {} latent dimensions, kernel {}>",
                           self.Y.rows(), self.Y.cols(), self.options.latent,
                           self.options.kernel.print());
      });
}

}  // namespace

void bind_map_gplvm(nb::module_& m) {
  nb::class_<MapGplvmFit, FitNode> fit(
      m, "MapGplvmFit",
      "A trained GP-LVM whose latent inputs are points: immutable, "
      "saveable.");
  bind_latent_space(fit);
  fit.def(
         "place",
         [](const MapGplvmFit& s, const ArrayLike& Y, Index iterations, Index starts) {
           const Rows rows = to_outputs(Y);
           return to_numpy(unlocked([&] { return s.place(rows.get(), iterations, starts).X; }));
         },
         "Y"_a, "iterations"_a = 200, "starts"_a = 2, nb::rv_policy::move,
         "Latent inputs of rows of outputs, NaN where they are not observed: whole rows by the "
         "back "
         "constraint if there is one, any other at the maximum of log p(y | x) − ½|x|².",
         nb::sig("def place(self, Y: numpy.typing.ArrayLike, iterations: int = 200, starts: int = "
                 "2) -> " COVARY_ARRAY))
      .def_prop_ro(
          "X", [](const MapGplvmFit& s) { return to_numpy(RowMatrix(s.X)); }, nb::rv_policy::move,
          "The latent inputs of the rows, N×latent.")
      .def_prop_ro(
          "spread", [](const MapGplvmFit& s) { return to_numpy(s.spread()); }, nb::rv_policy::move,
          "The standard deviation of each dimension over the rows.");
  bind_model(m);
}

}  // namespace covary::python
