// Latent-variable models, and what training makes of them.
#include <fmt/format.h>
#include <nanobind/stl/filesystem.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <variant>

#include "arrays.hpp"
#include "bindings.hpp"
#include "covary/data/file.hpp"
#include "covary/error.hpp"
#include "covary/models/correspondences.hpp"
#include "covary/models/gplvm_sampling.hpp"
#include "covary/models/stochastic_gplvm.hpp"
#include "covary/report/latent_explorer.hpp"
#include "expressions.hpp"
#include "latent_space.hpp"
#include "latent_tables.hpp"
#include "parameters.hpp"
#include "tables.hpp"
#include "watch.hpp"

namespace covary::python {
namespace {

using namespace nb::literals;

// Of all rows, or by minibatches and of other likelihoods.
struct AnyGplvm {
  std::variant<Gplvm, StochasticGplvm> model;

  AnyGplvm(const RowMatrix& Y, const StochasticGplvmOptions& o) : model(make(Y, o)) {}
  Parameters& parameters() {
    return std::visit([](auto& m) -> Parameters& { return m.parameters(); }, model);
  }
  const Parameters& parameters() const {
    return std::visit([](auto& m) -> const Parameters& { return m.parameters(); }, model);
  }
  void resume(TrainingState state) {
    std::visit([&](auto& m) { m.resume(std::move(state)); }, model);
  }
  GplvmFit fit() {
    return std::visit([](auto& m) { return m.fit(); }, model);
  }

 private:
  static std::variant<Gplvm, StochasticGplvm> make(const RowMatrix& Y,
                                                   const StochasticGplvmOptions& o) {
    const TrainingOptions& t = o.gplvm.training;
    if (t.batch > 0 || t.steps > 0 || !o.likelihood.is_plain_gaussian())
      return StochasticGplvm(Y, o);
    return Gplvm(Y, o.gplvm);
  }
};

// A model with its data in their own units, so that fit() may set the options of training.
struct GplvmModel {
  static constexpr bool limited = true;
  RowMatrix Y;
  StochasticGplvmOptions options;
  AnyGplvm model;

  AnyGplvm made(const StochasticGplvmOptions& o) const {
    AnyGplvm out = unlocked([&] { return AnyGplvm(Y, o); });
    out.parameters() = model.parameters();
    return out;
  }
  void take(const AnyGplvm& trained, const StochasticGplvmOptions&) {
    model.parameters() = trained.parameters();
  }
  void name(GplvmFit& fit) const { name_columns(fit, Y.cols(), options.gplvm.times.cols()); }
  Index starts(Index given) const {
    if (given > 1 && std::holds_alternative<StochasticGplvm>(model.model))
      throw Unsupported("a Gplvm of minibatches or of another likelihood has one start");
    return std::max<Index>(1, given);
  }
  nb::tuple state() const {
    const GplvmOptions& o = options.gplvm;
    const auto& back = o.back_constraint;
    return nb::make_tuple(to_numpy(RowMatrix(Y)), o.kernel, o.latent, o.inducing, to_state(o.views),
                          to_numpy(RowMatrix(o.times)), o.dynamics, o.sequences,
                          to_numpy(RowMatrix(o.given)), back ? back->form : "",
                          static_cast<int>(o.scale_outputs), o.snr, o.jitter,
                          options.likelihood.print(), o.training.batch, o.training.steps,
                          o.fixed_point, o.start_view, o.features.print());
  }
};

Moments infer(const GplvmFit& m, const ArrayLike& Y, Index iterations, Index starts) {
  const Rows rows = to_outputs(Y);
  auto found = unlocked([&] { return m.infer(rows.get(), iterations, starts); });
  return {to_numpy(std::move(found.mean)), to_numpy(std::move(found.variance))};
}

Moments infer_sequence(const GplvmFit& m, const ArrayLike& Y, const ArrayLike& times,
                       Index iterations, bool own_noise) {
  const Rows rows = to_outputs(Y), at = to_outputs(times, "times");
  GplvmFit::SequenceOptions o;
  o.iterations = iterations;
  o.own_noise = own_noise;
  auto found = unlocked([&] { return m.infer_sequence(rows.get(), at.get(), o); });
  return {to_numpy(std::move(found.mean)), to_numpy(std::move(found.variance))};
}

NumpyArray log_density(const GplvmFit& m, const ArrayLike& Y, Index iterations, Index starts) {
  const Rows rows = to_outputs(Y);
  return to_numpy(unlocked([&] { return m.log_density(rows.get(), iterations, starts); }));
}

// Rows and distances n×k, and the outputs with each neighbour n×k×P.
nb::tuple correspond(const GplvmFit& m, const ArrayLike& Y, Index neighbours, double relevance) {
  const Rows rows = to_outputs(Y);
  struct Found {
    RowMatrix rows, distances;
    std::vector<RowMatrix> outputs;
  };
  Found found = unlocked([&] {
    const CorrespondenceOptions options{.neighbours = neighbours, .relevance = relevance};
    const Correspondences c = correspondences(m, rows.get(), options);
    const Index n = c.distances.rows(), P = m.outputs();
    Found out{RowMatrix(n, neighbours), c.distances,
              std::vector<RowMatrix>(static_cast<std::size_t>(n), RowMatrix(neighbours, P))};
    for (Index k = 0; k < neighbours; ++k) {
      const auto at = static_cast<std::size_t>(k);
      const RowMatrix mean = m.decode(c.latent[at]).mean;
      for (Index i = 0; i < n; ++i) {
        const auto row = static_cast<std::size_t>(i);
        out.rows(i, k) = static_cast<double>(c.rows[row][at]);
        out.outputs[row].row(k) = mean.row(i);
      }
    }
    return out;
  });
  nb::object whole = nb::cast(to_numpy(std::move(found.rows))).attr("astype")("int64");
  return nb::make_tuple(whole, to_numpy(std::move(found.distances)), draws_to_numpy(found.outputs));
}

constexpr const char* model_doc =
    R"doc(A Bayesian GP-LVM, to be trained: outputs whose inputs are unknown.

Y is N×P, NaN where missing. ``latent`` is the maximum dimension of the latent space; dimensions that are not
needed switch off. ``views`` is a dictionary of names and lists of columns, each with its own
mapping. ``features`` are the inducing variables of every mapping, "points" or "basis(C)", sums of C
points. With ``times`` (N or N×d) the latent inputs follow Gaussian processes over them with the kernel
``dynamics``, independent between ``sequences``, which are given by their first rows. ``given`` (N×latent,
NaN where unknown) are inputs that are known. ``back_constraint`` is "kernel" or "network": the means of
q(X) are then a function of the rows. ``fixed_point`` is the number of steps of q(X) towards its fixed point before each
part of training; −1 is ten with times, else none.

``likelihood`` is how outputs arise from the functions: ``"gaussian"``, ``"bernoulli"``, ``"poisson"``, … If it
is not Gaussian, or with ``batch`` or ``steps`` of minibatches, training is by natural
gradients and Adam, for one view without times.

>>> import numpy as np, covary as cv
>>> t = np.linspace(-1.5, 1.5, 60)
>>> noise = 0.02 * np.random.default_rng(0).standard_normal((60, 4))
>>> Y = np.column_stack([t, np.sin(2 * t), t**2, np.tanh(2 * t)]) + noise
>>> fit = cv.Gplvm(Y, latent=3, inducing=12).fit(max_iter=300)
>>> fit.mean.shape, len(fit.active)
((60, 3), 1)
>>> mean, variance = fit.decode(fit.mean)
>>> bool(abs(mean - Y).mean() < 0.05)
True
)doc";

void bind_model(nb::module_& m) {
  nb::class_<GplvmModel> of(m, "Gplvm", model_doc);
  def_fit(
      of,
      "Trains from the current parameters, and from further starts; the best bound is kept. The "
      "arguments are those of ``Regression.fit``; ``restarts=0`` is the number that the model was "
      "made with.");
  of.def(
        "__init__",
        [](GplvmModel* self, const ArrayLike& Y, Index latent, const KernelLike& kernel,
           Index inducing, const nb::object& views, const ArrayLike& times,
           const KernelLike& dynamics, const std::vector<Index>& sequences, const ArrayLike& given,
           const std::optional<std::string>& back_constraint, const std::string& scale, double snr,
           Index restarts, double jitter, std::uint64_t seed, const std::string& likelihood,
           Index batch, Index steps, Index fixed_point, const std::string& start_view,
           const std::string& features) {
          RowMatrix data = to_outputs(Y).get();
          StochasticGplvmOptions all;
          all.likelihood = likelihood;
          GplvmOptions& o = all.gplvm;
          o.training.batch = batch;
          o.training.steps = steps;
          o.latent = latent;
          o.kernel = to_kernel(kernel);
          o.inducing = inducing;
          o.features = features;
          o.views = to_views(views);
          o.times = table_or_nothing(times, "times");
          o.dynamics = to_kernel(dynamics);
          o.fixed_point = fixed_point;
          o.start_view = start_view;
          o.sequences = sequences;
          o.given = table_or_nothing(given, "given");
          if (back_constraint)
            o.back_constraint = RecognitionOptions{.form = *back_constraint, .seed = seed};
          o.scale_outputs = parse_scale_mode(scale);
          o.snr = snr;
          o.training.starts = restarts;
          o.jitter = jitter;
          o.seed = seed;
          AnyGplvm model = unlocked([&] { return AnyGplvm(data, all); });
          new (self) GplvmModel{std::move(data), std::move(all), std::move(model)};
        },
        "Y"_a, "latent"_a = 10, "kernel"_a = "se(ard)", "inducing"_a = 50, "views"_a = nb::none(),
        "times"_a = nb::none(), "dynamics"_a = "se + white", "sequences"_a = std::vector<Index>(),
        "given"_a = nb::none(), "back_constraint"_a = nb::none(), "scale"_a = "global",
        "snr"_a = 100.0, "restarts"_a = 0, "jitter"_a = 0.0, "seed"_a = 0,
        "likelihood"_a = "gaussian", "batch"_a = 0, "steps"_a = 0, "fixed_point"_a = -1,
        "start_view"_a = "", "features"_a = "points")
      .def(
          "elbo",
          [](const GplvmModel& self) {
            return unlocked([&] {
              return std::visit([](const auto& made) { return made.elbo(); }, self.model.model);
            });
          },
          "The bound at the current parameters, in the units of the data.")
      .def_prop_ro(
          "parameters", [](GplvmModel& self) -> Parameters& { return self.model.parameters(); },
          nb::rv_policy::reference_internal, "In the units the model sees.")
      .def_prop_ro("kernel", [](const GplvmModel& self) { return self.options.gplvm.kernel; })
      .def_prop_ro("warnings",
                   [](const GplvmModel& self) {
                     return std::visit([](const auto& made) { return made.warnings(); },
                                       self.model.model);
                   })
      .def("__repr__", [](const GplvmModel& self) {
        return fmt::format("<Gplvm: {}×{} outputs, {} latent dimensions, kernel {}>", self.Y.rows(),
                           self.Y.cols(), self.options.gplvm.latent,
                           self.options.gplvm.kernel.print());
      });
}

}  // namespace

void bind_latent_fit(nb::module_& m) {
  nb::class_<GplvmFit, FitNode> fit(m, "GplvmFit",
                                    "A trained latent-variable model: immutable, saveable.");
  bind_latent_space(fit);
  fit.def("infer", infer, "Y"_a, "iterations"_a = 200, "starts"_a = 2,
          "Means and variances of q(x) for rows of outputs, NaN where they are not observed.",
          nb::sig("def infer(self, Y: numpy.typing.ArrayLike, iterations: int = 200, starts: int = "
                  "2) -> " COVARY_MOMENTS))
      .def("infer_sequence", infer_sequence, "Y"_a, "times"_a, "iterations"_a = 100,
           "own_noise"_a = false,
           "Means and variances of q(X) of a further sequence of a dynamical model, whose rows are "
           "placed together: NaN where outputs are not observed. With ``own_noise`` the noise of "
           "each view is the sequence's own.",
           nb::sig("def infer_sequence(self, Y: numpy.typing.ArrayLike, times: "
                   "numpy.typing.ArrayLike, iterations: int = 100, own_noise: bool = False) "
                   "-> " COVARY_MOMENTS))
      .def("log_density", log_density, "Y"_a, "iterations"_a = 200, "starts"_a = 2,
           nb::rv_policy::move,
           "An estimate of log p(y | the data) of rows, NaN where they are not observed: what they "
           "add to the bound.",
           nb::sig("def log_density(self, Y: numpy.typing.ArrayLike, iterations: int = 200, "
                   "starts: int = 2) -> " COVARY_ARRAY))
      .def(
          "sample_latent",
          [](const GplvmFit& self, const ArrayLike& Y, Index draws, const std::string& method,
             Index burn_in, Index thin, std::uint64_t seed) {
            const Rows rows = to_outputs(Y);
            InputSamplingOptions o;
            o.method = method;
            o.samples = draws;
            o.burn_in = burn_in;
            o.thin = thin;
            o.seed = seed;
            const InputSamples found = unlocked([&] { return sample_latent(self, rows.get(), o); });
            // A table a draw, also where the latent space has one dimension.
            return nb::object(nb::cast(draws_to_numpy(found.X))
                                  .attr("reshape")(draws, rows.get().rows(), self.latent()));
          },
          "Y"_a, "draws"_a = 1000, "method"_a = "slice", "burn_in"_a = 200, "thin"_a = 1,
          "seed"_a = 0,
          "Draws from p(X | Y) of the training rows by MCMC, draws×N×latent, with the parameters "
          "as "
          "they are and no inducing inputs: what q(X) approximates. ``method`` is 'slice' or "
          "'retrospective'.",
          nb::sig("def sample_latent(self, Y: numpy.typing.ArrayLike, draws: int = 1000, method: "
                  "str = \"slice\", burn_in: int = 200, thin: int = 1, seed: int = 0) "
                  "-> " COVARY_ARRAY))
      .def(
          "estimate_log_evidence",
          [](const GplvmFit& self, const ArrayLike& Y, Index samples, double broaden,
             std::uint64_t seed) {
            const Rows rows = to_outputs(Y);
            const EvidenceEstimate found = unlocked(
                [&] { return estimate_log_evidence(self, rows.get(), samples, broaden, seed); });
            return std::pair(found.value, found.standard_error);
          },
          "Y"_a, "samples"_a = 10000, "broaden"_a = 1.5, "seed"_a = 0,
          "log p(Y) of the training rows and its standard error, by importance sampling from q(X) "
          "with its variances times ``broaden``: what the bound is below.",
          nb::sig(
              "def estimate_log_evidence(self, Y: numpy.typing.ArrayLike, samples: int = 10000, "
              "broaden: float = 1.5, seed: int = 0) -> tuple[float, float]"))
      .def(
          "explore",
          [](const GplvmFit& self, const std::filesystem::path& path, const std::string& draw,
             const std::string& title) {
            LatentExplorerOptions options;
            options.draw = draw;
            if (!title.empty()) options.title = title;
            write_file(path.string(), latent_explorer(self, options));
          },
          "path"_a, "draw"_a = "auto", "title"_a = "",
          "Writes a page to walk through the latent space, as ``covary explore`` does. ``draw`` is "
          "'curve', 'bars', 'image(16x16)', 'points(2)', 'points(3)' or 'auto'.")
      .def("correspond", correspond, "Y"_a, "neighbours"_a = 1, "relevance"_a = 0.005,
           "For several views, some of which Y leaves empty (NaN): for each row the nearest "
           "training "
           "rows in the dimensions that the views share, n×k, their distances, and the outputs "
           "decoded with each neighbour's values in the dimensions of the empty views, n×k×P.",
           nb::sig(
               "def correspond(self, Y: numpy.typing.ArrayLike, neighbours: int = 1, "
               "relevance: float = 0.005) -> tuple[numpy.typing.NDArray[numpy.int64], " COVARY_ARRAY
               ", " COVARY_ARRAY "]"))
      .def_prop_ro(
          "mean", [](const GplvmFit& s) { return to_numpy(RowMatrix(s.mean)); },
          nb::rv_policy::move, "Means of q(X), N×latent.")
      .def_prop_ro(
          "variance", [](const GplvmFit& s) { return to_numpy(RowMatrix(s.variance)); },
          nb::rv_policy::move, "Variances of q(X), N×latent.")
      .def_prop_ro(
          "scaled_mean", [](const GplvmFit& s) { return to_numpy(s.scaled_mean()); },
          nb::rv_policy::move, "The means times √relevance: what distances should be taken in.")
      .def_prop_ro(
          "relevance", [](const GplvmFit& s) { return to_numpy(RowMatrix(s.relevance())); },
          nb::rv_policy::move,
          "Each view's weight of each dimension over its largest, views×latent.")
      .def_prop_ro(
          "active", [](const GplvmFit& s) { return s.active(); },
          "Dimensions whose mean KL(q‖prior) exceeds 0.05 nats a row.")
      .def_prop_ro(
          "likelihood",
          [](const GplvmFit& s) {
            return s.likelihood ? s.likelihood->print() : std::string("gaussian");
          },
          "How outputs arise from the functions.");
  bind_model(m);
}

}  // namespace covary::python
