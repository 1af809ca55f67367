#include "predictions.hpp"

#include <fmt/format.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <cmath>

#include "arrays.hpp"
#include "covary/error.hpp"
#include "covary/models/gaussian_inputs.hpp"
#include "parameter_draws.hpp"
#include "tables.hpp"
#include "unlocked.hpp"

namespace covary::python {
namespace {

using namespace nb::literals;

using Moments = std::pair<nb::object, nb::object>;

// What a call returns, as stubs say it; for a table it is pandas, which they do not know.
#define COVARY_ARRAY "numpy.typing.NDArray[numpy.float64]"
#define COVARY_MOMENTS "tuple[" COVARY_ARRAY ", " COVARY_ARRAY "]"

// Rows predicted between two looks at Ctrl-C: some 1e10 flops. They are whole blocks of the core,
// so that the parts have the same bits as one call.
Index part_size(const RegressionFit& m) {
  constexpr double block = 512;
  const Posterior& p = m.posterior;
  const auto N =
      static_cast<double>(p.can(Capability::inducing) ? p.inducing().features->size() : p.rows());
  return static_cast<Index>(block * std::floor(std::clamp(1e10 / (N * N * block), 1.0, 1e6)));
}

// n×D×D as a covariance for each row.
std::vector<Matrix> to_covariances(const ArrayLike& X_cov, Index n, Index D) {
  const Doubles a = to_array(X_cov, "X_cov");
  if (a.ndim() != 3 || static_cast<Index>(a.shape(0)) != n || static_cast<Index>(a.shape(1)) != D ||
      static_cast<Index>(a.shape(2)) != D)
    throw InputError(
        fmt::format("X_cov must be a covariance for each row of X, {}×{}×{}", n, D, D));
  std::vector<Matrix> out;
  out.reserve(static_cast<std::size_t>(n));
  for (Index i = 0; i < n; ++i)
    out.emplace_back(Eigen::Map<const RowMatrix>(a.data() + i * D * D, D, D));
  return out;
}

// Of the rows X, or of Gaussians around them, or over draws of the parameters.
Prediction predict(const RegressionFit& m, const ArrayLike& X, const ArrayLike& X_var,
                   const ArrayLike& X_cov, const NamedDraws* parameters) {
  const Rows inputs = to_inputs(X, m.input_columns);
  const auto all = inputs.get();
  if (parameters) {
    if (!X_var.is_none() || !X_cov.is_none())
      throw InputError("parameters cannot be combined with X_var or X_cov");
    return unlocked([&] { return covary::predict(m, parameters->draws, all); });
  }
  if (!X_cov.is_none()) {
    if (!X_var.is_none()) throw InputError("give X_var or X_cov, not both");
    const auto S = to_covariances(X_cov, all.rows(), all.cols());
    return unlocked([&] { return predict_gaussian_inputs(m, all, S); });
  }
  if (!X_var.is_none()) {
    const Rows variance = to_inputs(X_var, "X_var");
    return unlocked([&] { return m.predict(all, variance.get()); });
  }
  const Index n = all.rows(), P = m.posterior.functions(), part = part_size(m);
  if (n <= part) return unlocked([&] { return m.predict(all); });
  Prediction out{RowMatrix(n, P), RowMatrix(n, P), RowMatrix(n, P)};
  for (Index first = 0; first < n; first += part) {
    const Index rows = std::min(part, n - first);
    const Prediction p = unlocked([&] { return m.predict(all.middleRows(first, rows)); });
    out.mean.middleRows(first, rows) = p.mean;
    out.variance_f.middleRows(first, rows) = p.variance_f;
    out.variance_y.middleRows(first, rows) = p.variance_y;
    if (PyErr_CheckSignals() != 0) throw nb::python_error();
  }
  return out;
}

nb::list components(const RegressionFit& m, const ArrayLike& X) {
  const Rows rows = to_inputs(X, m.input_columns);
  auto parts = unlocked([&] { return m.components(rows.get()); });
  nb::list out;
  for (auto& part : parts)
    out.append(nb::make_tuple(part.name, outputs_like(X, std::move(part.mean), m.output_names),
                              outputs_like(X, std::move(part.variance), m.output_names)));
  return out;
}

// f = g + h of a sparse model, in the units of the data.
nb::tuple split(const RegressionFit& m, const ArrayLike& X) {
  const Posterior& posterior = m.posterior;
  const Rows rows = to_inputs(X, m.input_columns);
  const Scaling& undo = m.output_scaling;
  auto s = unlocked([&] { return posterior.split(m.input_scaling.apply(rows.get())); });
  const auto give = [&](RowMatrix values) {
    return outputs_like(X, std::move(values), m.output_names);
  };
  return nb::make_tuple(
      give(undo.undo(s.g_mean)), give(undo.undo_variance(s.g_variance)),
      give(undo.undo_variance(RowMatrix(s.h_variance.replicate(1, s.g_mean.cols())))));
}

// n×P×P, or n×1 of a single output.
NumpyArray output_covariance(const RegressionFit& m, const ArrayLike& X, const ArrayLike& X_var) {
  const Rows at = to_inputs(X, m.input_columns), variance = to_inputs(X_var, "X_var");
  if (variance.get().rows() != at.get().rows())
    throw InputError(
        fmt::format("X has {} rows, X_var {}", at.get().rows(), variance.get().rows()));
  return draws_to_numpy(unlocked([&] {
    std::vector<RowMatrix> out;
    out.reserve(static_cast<std::size_t>(at.get().rows()));
    for (Index i = 0; i < at.get().rows(); ++i)
      out.emplace_back(m.output_covariance(at.get().row(i), variance.get().row(i)));
    return out;
  }));
}

RegressionFit condition(const RegressionFit& m, const ArrayLike& X, const ArrayLike& Y,
                        const ArrayLike& noise) {
  const Rows x = to_inputs(X, m.input_columns), y = to_outputs(Y);
  const Vector point_noise = to_vector(noise, "noise");
  return unlocked([&] { return m.with(x.get(), y.get(), point_noise); });
}

}  // namespace

void bind_predictions(nb::class_<RegressionFit, FitNode>& fit) {
  fit.def(
         "predict_f",
         [](const RegressionFit& m, const ArrayLike& X, const ArrayLike& X_var,
            const ArrayLike& X_cov, const NamedDraws* parameters) -> Moments {
           Prediction p = predict(m, X, X_var, X_cov, parameters);
           return {outputs_like(X, std::move(p.mean), m.output_names),
                   outputs_like(X, std::move(p.variance_f), m.output_names)};
         },
         "X"_a, "X_var"_a = nb::none(), "X_cov"_a = nb::none(), "parameters"_a = nb::none(),
         "Mean and variance of the function at each row, in the units of the data. A pandas table "
         "gives pandas. With X_var (n×D) the inputs are Gaussian with these variances, or with "
         "X_cov (n×D×D) with these covariances, and the moments average over them too. With "
         "parameters, from sample_parameters(), they average over those draws.",
         nb::sig("def predict_f(self, X: numpy.typing.ArrayLike, "
                 "X_var: numpy.typing.ArrayLike | None = None, "
                 "X_cov: numpy.typing.ArrayLike | None = None, "
                 "parameters: ParameterDraws | None = None) -> " COVARY_MOMENTS))
      .def(
          "predict_mean",
          [](const RegressionFit& m, const ArrayLike& X) {
            const Rows rows = to_inputs(X, m.input_columns);
            return outputs_like(X, unlocked([&] { return m.predict_mean(rows.get()); }),
                                m.output_names);
          },
          "X"_a, "The mean alone, which is much quicker.",
          nb::sig("def predict_mean(self, X: numpy.typing.ArrayLike) -> " COVARY_ARRAY))
      .def(
          "predict_y",
          [](const RegressionFit& m, const ArrayLike& X, const ArrayLike& X_var,
             const ArrayLike& X_cov, const NamedDraws* parameters) -> Moments {
            Prediction p = predict(m, X, X_var, X_cov, parameters);
            return {outputs_like(X, std::move(p.mean), m.output_names),
                    outputs_like(X, std::move(p.variance_y), m.output_names)};
          },
          "X"_a, "X_var"_a = nb::none(), "X_cov"_a = nb::none(), "parameters"_a = nb::none(),
          "Mean and variance of a new observation at each row, noise included; with X_var or X_cov "
          "at Gaussian inputs; with parameters averaged over those draws.",
          nb::sig("def predict_y(self, X: numpy.typing.ArrayLike, "
                  "X_var: numpy.typing.ArrayLike | None = None, "
                  "X_cov: numpy.typing.ArrayLike | None = None, "
                  "parameters: ParameterDraws | None = None) -> " COVARY_MOMENTS))
      .def("output_covariance", output_covariance, "X"_a, "X_var"_a,
           "Covariance of the outputs' functions at each row, whose input is Gaussian and whose "
           "uncertainty the outputs share: n×P×P, or n×1 with a single output.",
           nb::sig("def output_covariance(self, X: numpy.typing.ArrayLike, "
                   "X_var: numpy.typing.ArrayLike) -> " COVARY_ARRAY))
      .def(
          "covariance",
          [](const RegressionFit& m, const ArrayLike& X, Index output) {
            const Rows rows = to_inputs(X, m.input_columns);
            return square_like(
                X, unlocked([&] { return RowMatrix(m.covariance(rows.get(), output)); }));
          },
          "X"_a, "output"_a = 0, "Joint covariance of the function at n rows: n×n.",
          nb::sig("def covariance(self, X: numpy.typing.ArrayLike, output: int = 0) "
                  "-> " COVARY_ARRAY))
      .def("components", components, "X"_a,
           "The posterior of each term of a sum: a list of (name, mean, variance).",
           nb::sig("def components(self, X: numpy.typing.ArrayLike) "
                   "-> list[tuple[str, " COVARY_ARRAY ", " COVARY_ARRAY "]]"))
      .def(
          "gradient",
          [](const RegressionFit& m, const ArrayLike& X, Index output) -> Moments {
            const Rows rows = to_inputs(X, m.input_columns);
            auto g = unlocked([&] { return m.gradient(rows.get(), output); });
            const auto names = m.input_columns.names();
            return {columns_like(X, std::move(g.mean), names),
                    columns_like(X, std::move(g.variance), names)};
          },
          "X"_a, "output"_a = 0,
          "Derivatives of the mean and the variance of the function with respect to the inputs: "
          "n×D "
          "each.",
          nb::sig("def gradient(self, X: numpy.typing.ArrayLike, output: int = 0) "
                  "-> " COVARY_MOMENTS))
      .def(
          "sample",
          [](const RegressionFit& m, const ArrayLike& X, Index draws, std::uint64_t seed) {
            const Rows rows = to_inputs(X, m.input_columns);
            return draws_like(X, unlocked([&] { return m.sample(rows.get(), draws, seed); }));
          },
          "X"_a, "draws"_a = 1, "seed"_a = 0,
          "Joint draws of the function at the rows: draws×n, or draws×n×P.",
          nb::sig("def sample(self, X: numpy.typing.ArrayLike, draws: int = 1, seed: int = 0) "
                  "-> " COVARY_ARRAY))
      .def(
          "leave_one_out",
          [](const RegressionFit& m) {
            auto loo = unlocked([&] { return m.leave_one_out(); });
            return nb::make_tuple(outputs_to_numpy(std::move(loo.mean)),
                                  outputs_to_numpy(std::move(loo.variance)), loo.log_density);
          },
          "Mean and variance of each y given all the others, and the sum of log densities.",
          nb::sig("def leave_one_out(self) -> tuple[" COVARY_ARRAY ", " COVARY_ARRAY ", float]"))
      .def("split", split, "X"_a,
           "For a sparse model, f = g + h: the mean and the variance of g, which the data "
           "determine, "
           "and the variance of h, which they cannot change because no inducing input reaches it. "
           "The variance of f is the sum of both, except for 'sor', which has no h.",
           nb::sig("def split(self, X: numpy.typing.ArrayLike) "
                   "-> tuple[" COVARY_ARRAY ", " COVARY_ARRAY ", " COVARY_ARRAY "]"))
      .def("condition", condition, "X"_a, "Y"_a, "noise"_a = nb::none(),
           "A new fit with further rows and the same parameters.")
      .def(
          "without_outputs",
          [](const RegressionFit& m) { return unlocked([&] { return without_outputs(m); }); },
          "The fit without its training outputs, to share. Predictions have the same "
          "bits; what needs the outputs raises Unsupported.");
}

}  // namespace covary::python
