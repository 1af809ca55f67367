#include "covary/models/sparse_regression.hpp"

#include <fmt/format.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "arrays.hpp"
#include "bindings.hpp"
#include "covary/error.hpp"
#include "covary/features/record.hpp"
#include "covary/models/fit.hpp"
#include "expressions.hpp"
#include "inducing.hpp"
#include "parameters.hpp"
#include "training_data.hpp"
#include "watch.hpp"

namespace covary::python {
namespace {

using namespace nb::literals;

// The same model at given parameters, inducing inputs included, without choosing them first.
SparseRegression at_parameters(const TrainingData& d, SparseRegressionOptions options,
                               const Parameters& parameters, const FeaturesPtr& features) {
  options.features = {};
  options.Z = d.X.topRows(1);
  SparseRegression out(d.X, d.Y, std::move(options), d.noise);
  out.set_parameters(parameters, features);
  return out;
}

// A sparse regression with its data in their own units, so that fit() may set the options of
// training. (A name of its own: nanobind tells types by name, even in unnamed namespaces.)
struct SparseModel {
  TrainingData data;
  SparseRegressionOptions options;
  SparseRegression sparse;

  SparseRegression made(const SparseRegressionOptions& o) const {
    auto out = unlocked([&] { return SparseRegression(data.X, data.Y, o, data.noise); });
    out.start_from(sparse);
    return out;
  }
  void take(const SparseRegression& trained, const SparseRegressionOptions& o) {
    options.seed = o.seed;  // it groups the rows of PITC
    sparse = at_parameters(data, options, trained.parameters(), trained.features());
  }
  void name(RegressionFit& fit) const { data.name(fit); }
  Index starts(Index) const { return 1; }
  nb::tuple state() const;
};

SparseModel make_model(TrainingData data, SparseRegressionOptions options) {
  auto sparse = unlocked([&] { return SparseRegression(data.X, data.Y, options, data.noise); });
  return {std::move(data), std::move(options), std::move(sparse)};
}

SparseModel copy(const SparseModel& m) {
  return {m.data, m.options,
          at_parameters(m.data, m.options, m.sparse.parameters(), m.sparse.features())};
}

// Works on a copy, without the interpreter's lock.
template <class Work>
auto evaluated(const SparseModel& m, const Work& work) {
  const Parameters parameters = m.sparse.parameters();
  const FeaturesPtr features = m.sparse.features();
  return unlocked([&] { return work(at_parameters(m.data, m.options, parameters, features)); });
}

Route to_route(const std::string& name) {
  if (name == "auto") return Route::automatic;
  if (name == "fast") return Route::fast;
  if (name == "safe") return Route::safe;
  if (name == "stable") return Route::stable;
  throw InputError(
      fmt::format("unknown route '{}'; choose 'auto', 'fast', 'safe' or 'stable'", name));
}

Vector parameters_of_features(const Parameters& parameters) {
  Vector z(0);
  for (const Parameter& p : parameters.all())
    if (p.path.starts_with("features.")) {
      z.conservativeResize(z.size() + p.value.size());
      z.tail(p.value.size()) = p.value;
    }
  return z;
}

nb::tuple to_tuple(const FeatureRecord& r) {
  nb::list parts;
  for (const FeatureRecord& part : r.parts) parts.append(to_tuple(part));
  return nb::make_tuple(r.name, r.size, r.dims, std::vector<double>(r.z.begin(), r.z.end()),
                        r.degrees, nb::tuple(parts));
}

FeatureRecord to_record(const nb::tuple& t) {
  const auto z = nb::cast<std::vector<double>>(t[3]);
  FeatureRecord out{nb::cast<std::string>(t[0]),
                    nb::cast<Index>(t[1]),
                    nb::cast<Index>(t[2]),
                    Eigen::Map<const Vector>(z.data(), static_cast<Index>(z.size())),
                    nb::cast<std::vector<std::int64_t>>(t[4]),
                    {}};
  for (nb::handle part : nb::cast<nb::tuple>(t[5]))
    out.parts.push_back(to_record(nb::cast<nb::tuple>(part)));
  return out;
}

nb::tuple SparseModel::state() const {
  const SparseRegressionOptions& o = options;
  const auto number = [](auto e) { return static_cast<int>(e); };
  return nb::make_tuple(
      get_state(data), o.kernel, o.mean, number(o.approximation.kind), o.approximation.alpha,
      o.inducing, number(o.selection), to_numpy(RowMatrix(o.Z)), number(o.scale_inputs),
      number(o.scale_outputs), o.jitter, number(o.route), o.subset, o.groups, o.seed, o.bracket,
      o.most_inducing, sparse.parameters(), o.features.print(),
      to_tuple(record_features(*sparse.features(), parameters_of_features(sparse.parameters()))),
      number(o.placement), o.placement_rows);
}

SparseModel from_state(const nb::tuple& t) {
  SparseRegressionOptions o;
  o.kernel = nb::cast<Kernel>(t[1]);
  o.mean = nb::cast<Mean>(t[2]);
  o.approximation.kind = static_cast<Approximation::Kind>(nb::cast<int>(t[3]));
  o.approximation.alpha = nb::cast<double>(t[4]);
  o.inducing = nb::cast<Index>(t[5]);
  o.selection = static_cast<Selection>(nb::cast<int>(t[6]));
  o.Z = to_inputs(t[7]).get();
  o.scale_inputs = static_cast<ScaleMode>(nb::cast<int>(t[8]));
  o.scale_outputs = static_cast<ScaleMode>(nb::cast<int>(t[9]));
  o.jitter = nb::cast<double>(t[10]);
  o.route = static_cast<Route>(nb::cast<int>(t[11]));
  o.subset = nb::cast<Index>(t[12]);
  o.groups = nb::cast<Index>(t[13]);
  o.seed = nb::cast<std::uint64_t>(t[14]);
  o.bracket = nb::cast<double>(t[15]);
  o.most_inducing = nb::cast<Index>(t[16]);
  o.placement = static_cast<Placement>(nb::cast<int>(t[20]));
  o.placement_rows = nb::cast<Index>(t[21]);
  TrainingData data = training_data_from(nb::cast<nb::tuple>(t[0]));
  o.features = nb::cast<std::string>(t[18]);
  const auto parameters = nb::cast<Parameters>(t[17]);
  const FeaturesPtr features = restore_features(to_record(nb::cast<nb::tuple>(t[19])), o.kernel);
  SparseRegression sparse = at_parameters(data, o, parameters, features);
  return {std::move(data), std::move(o), std::move(sparse)};
}

constexpr const char* sparse_doc = R"doc(Sparse Gaussian-process regression, to be trained.

With N rows and M inducing inputs an evaluation costs O(N·M²), in memory that does not grow with N beyond
the data. X, Y, ``noise`` and ``scale`` are as in ``Regression``.

``model`` is "vfe" (a lower bound on the evidence of the exact model), "vfe(tight)" (a tighter one),
"fitc", "pep(α)" with 0 < α ≤ 1, "dtc", "sor" or "pitc" (in ``groups`` groups of rows; 0: about N/M).
``inducing`` is the number of inducing inputs, at most one for each distinct row; None grows it until the
bracket of the evidence is ``bracket`` nats per row or there are ``most_inducing``; or an array of the
inducing inputs, in the units of the data. ``selection`` is how they are
chosen: "greedy_variance", "kmeans", "hierarchical_kmeans", "random", "grid", "leverage", or by the outputs
"bound_gain" (vfe) or "information_gain", with ``seed`` for those that draw. ``features`` are the inducing variables: "points"; for kernels made of se "multiscale",
"frequency", "timefrequency" and "eigen" (also matern12); for Matérn kernels "fourier" and
"fourier(l2)"; for both "orthogonal"; for any kernel "basis(C)" and "empirical"; for a sum of kernels over
columns "stacked(KIND)" with any of them, shared evenly between its parts; or, with model="sor", features
that define their own model: "rff", "ssgp", "hilbert" and "bumps". Training starts from an exact
fit of ``subset`` rows; 0 starts from the current parameters.
``placement`` is the objective that places the inducing variables: the "bound", or "expected_kl", the mean KL of
the posterior over outputs drawn from the model, which does not use Y (on at most ``placement_rows`` rows).
``route`` is the numerical route of the sweep: "auto", "fast", "safe" or "stable".

>>> import numpy as np, covary as cv
>>> X = np.linspace(0, 10, 500).reshape(-1, 1)
>>> y = np.sin(X[:, 0]) + 0.1 * np.random.default_rng(0).standard_normal(500)
>>> model = cv.SparseRegression(X, y, kernel="se", inducing=15)
>>> fit = model.fit(seed=1)
>>> fit.Z.shape
(15, 1)
>>> fit.value <= fit.upper_bound
True
)doc";

constexpr const char* fit_doc =
    R"doc(Trains from the current parameters, which become the best found.

``restarts`` is the number of starts of the initial exact fit (0: three). The other
arguments are those of ``Regression.fit``; without a ``seed`` the model's own is used. Training has
several parts, each of which counts its iterations from 1. ``max_iter`` limits each part; ``max_seconds`` and
a callback that returns False end the whole training. If ``inducing`` is None, their number is chosen again.

>>> import numpy as np, covary as cv
>>> X = np.linspace(0, 10, 300).reshape(-1, 1)
>>> model = cv.SparseRegression(X, np.sin(X[:, 0]), inducing=12, model="fitc")
>>> before = model.elbo()
>>> model.fit(max_iter=20).value > before
True
)doc";

}  // namespace

void bind_sparse_regression(nb::module_& m) {
  nb::class_<SparseModel> of(m, "SparseRegression", sparse_doc);
  def_fit(of, fit_doc);
  of.def(
        "__init__",
        [](SparseModel* self, const ArrayLike& X, const ArrayLike& Y, const KernelLike& kernel,
           const MeanLike& mean, const std::string& model, const ArrayLike& inducing,
           const std::string& selection, const std::string& features, const std::string& scale,
           const ArrayLike& noise, double jitter, const std::string& route, Index groups,
           Index subset, double bracket, Index most_inducing, std::uint64_t seed,
           const std::string& placement, Index placement_rows, const Names& input_names,
           const Names& output_names) {
          TrainingData data = to_training_data(X, Y, noise, input_names, output_names);
          SparseRegressionOptions options;
          options.kernel = to_kernel(kernel);
          options.mean = to_mean(mean);
          options.approximation = Approximation(model);
          Inducing asked = to_inducing(inducing, data, "an automatic number of inducing inputs");
          options.inducing = asked.number.value_or(0);
          options.Z = std::move(asked.Z);
          options.selection = parse_selection(selection);
          options.features = features;
          options.scale_inputs = to_scale_mode(scale, data.X);
          options.scale_outputs = to_scale_mode(scale, data.Y);
          options.jitter = jitter;
          options.route = to_route(route);
          options.groups = groups;
          options.subset = subset;
          options.bracket = bracket;
          options.most_inducing = most_inducing;
          options.seed = seed;
          options.placement = parse_placement(placement);
          options.placement_rows = placement_rows;
          new (self) SparseModel(make_model(std::move(data), std::move(options)));
        },
        "X"_a, "Y"_a, "kernel"_a = "se(ard)", "mean"_a = "zero", "model"_a = "vfe",
        "inducing"_a = nb::none(), "selection"_a = "greedy_variance", "features"_a = "points",
        "scale"_a = "auto", "noise"_a = nb::none(), "jitter"_a = 0.0, "route"_a = "auto",
        "groups"_a = 0, "subset"_a = 2048, "bracket"_a = 0.01, "most_inducing"_a = 2000,
        "seed"_a = 0, "placement"_a = "bound", "placement_rows"_a = 1000,
        "input_names"_a = nb::none(), "output_names"_a = nb::none())
      .def(
          "elbo",
          [](const SparseModel& self) {
            return evaluated(self, [](const SparseRegression& s) { return s.evaluate().value; });
          },
          "The objective at the current parameters, in the units of the data: a lower bound on the "
          "evidence for 'vfe' and 'vfe(tight)', else an approximation of it. It is with the jitter "
          "of "
          "the model, which training may have had to raise: Summary.jitter.")
      .def(
          "upper_bound",
          [](const SparseModel& self) {
            return evaluated(self, [](const SparseRegression& s) { return s.certificate().upper; });
          },
          "What the evidence of the exact model cannot exceed at the current parameters, in the "
          "units of the data.")
      .def(
          "mean_kl",
          [](const SparseModel& self) {
            return evaluated(self, [](const SparseRegression& s) { return s.mean_kl(); });
          },
          "The mean over outputs drawn from the model of the KL between the posterior by 'vfe' and "
          "the exact one, at the current parameters, in nats for one output, from at most "
          "``placement_rows`` rows.")
      .def(
          "plan",
          [](const SparseModel& self) {
            const SparseRegression::Planned p =
                evaluated(self, [](const SparseRegression& s) { return s.plan(); });
            nb::dict out;
            out["inducing"] = p.needed.inducing;
            out["certain"] = p.needed.certain ? nb::cast(p.needed.certain) : nb::none();
            out["kl_low"] = p.here.low;
            out["kl_high"] = p.here.high;
            out["trace"] = p.trace;
            return out;
          },
          "For 'eigen' features, at the current parameters: how many make the mean KL over data "
          "from "
          "the model at most 0.01 nats ('inducing'), and the KL for these outputs with probability "
          "0.95 ('certain', None beyond most_inducing); the bracket of the mean KL with the "
          "current "
          "features that the kernel's spectrum gives for inputs from their measure ('kl_low', "
          "'kl_high'); and the trace that they actually leave ('trace').")
      .def_prop_ro(
          "parameters", [](SparseModel& self) -> Parameters& { return self.sparse.parameters(); },
          nb::rv_policy::reference_internal, "In the units the model sees.")
      .def_prop_ro("kernel", [](const SparseModel& self) { return self.options.kernel; })
      .def_prop_ro("mean", [](const SparseModel& self) { return self.options.mean; })
      .def_prop_ro("model",
                   [](const SparseModel& self) { return self.options.approximation.print(); })
      .def_prop_ro("warnings", [](const SparseModel& self) { return self.sparse.warnings(); })
      .def_prop_ro("input_names", [](const SparseModel& self) { return self.data.input_names; })
      .def_prop_ro("output_names", [](const SparseModel& self) { return self.data.output_names; })
      .def("__copy__", copy)
      .def(
          "__deepcopy__", [](const SparseModel& self, nb::handle) { return copy(self); }, "memo"_a)
      .def("__getstate__", &SparseModel::state)
      .def("__setstate__",
           [](SparseModel& self, const nb::tuple& state) {
             new (&self) SparseModel(from_state(state));
           })
      .def("__repr__",
           [](const SparseModel& self) {
             return fmt::format(
                 "<SparseRegression: {}, {} rows, {} inducing {}{}, kernel {}, "
                 "mean {}>",
                 self.options.approximation.print(), self.data.X.rows(),
                 self.sparse.features()->size(),
                 self.options.features.is_points() ? "inputs"
                                                   : self.options.features.print() + " features",
                 self.options.inducing || self.options.Z.size() ? "" : " to begin with",
                 self.options.kernel.print(), self.options.mean.print());
           })
      .def("_repr_html_",
           [](const SparseModel& self) { return html_table(self.sparse.parameters()); });
}

}  // namespace covary::python
