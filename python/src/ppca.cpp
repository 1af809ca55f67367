// Probabilistic principal components, primal and dual.
#include "covary/models/ppca.hpp"

#include <fmt/format.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>

#include "arrays.hpp"
#include "bindings.hpp"
#include "latent_space.hpp"
#include "unlocked.hpp"

namespace covary::python {
namespace {

using namespace nb::literals;

PpcaFit::Inferred inferred(const PpcaFit& m, const ArrayLike& Y) {
  const Rows rows = to_outputs(Y);
  return unlocked([&] { return m.infer(rows.get()); });
}

Moments infer(const PpcaFit& m, const ArrayLike& Y) {
  auto found = inferred(m, Y);
  return {to_numpy(std::move(found.mean)), to_numpy(std::move(found.variance))};
}

Moments fill(const PpcaFit& m, const ArrayLike& Y) {
  auto found = inferred(m, Y);
  return {to_numpy(std::move(found.outputs.mean)), to_numpy(std::move(found.outputs.variance_y))};
}

Moments decode(const PpcaFit& m, const ArrayLike& X) {
  const Rows at = to_inputs(X);
  Prediction p = unlocked([&] { return m.decode(at.get()); });
  return {to_numpy(std::move(p.mean)), to_numpy(std::move(p.variance_y))};
}

PpcaFit primal(const ArrayLike& Y, Index latent, const std::string& scale) {
  const Rows rows = to_outputs(Y);
  const ScaleMode mode = parse_scale_mode(scale);
  return unlocked([&] { return fit_ppca(rows.get(), latent, mode); });
}

std::tuple<NumpyArray, double, double> dual(const ArrayLike& Y, Index latent) {
  const Rows rows = to_outputs(Y);
  DualPpca found = unlocked([&] { return fit_dual_ppca(rows.get(), latent); });
  return {to_numpy(std::move(found.X)), found.noise_variance, found.log_likelihood};
}

constexpr const char* fit_doc =
    R"doc(Probabilistic principal components at their maximum likelihood: immutable, saveable.

y = W·x + mean + noise with x standard normal. It is what ``fit_ppca`` returns.

>>> import numpy as np, covary as cv
>>> rng = np.random.default_rng(0)
>>> Y = rng.standard_normal((50, 2)) @ rng.standard_normal((2, 5)) + 0.1 * rng.standard_normal((50, 5))
>>> fit = cv.fit_ppca(Y, latent=2)
>>> x, variance = fit.infer(Y)
>>> x.shape, bool(abs(fit.decode(x)[0] - Y).mean() < 0.2)
((50, 2), True)
>>> some = Y[:1].copy()
>>> some[0, 3] = np.nan  # cells may be missing
>>> bool(abs(fit.fill(some)[0][0, 3] - Y[0, 3]) < 1)
True
)doc";

}  // namespace

void bind_ppca(nb::module_& m) {
  nb::class_<PpcaFit, FitNode> fit(m, "PpcaFit", fit_doc);
  fit.def("infer", infer, "Y"_a,
          "Means and variances of x given rows of outputs, NaN where they are not observed.",
          nb::sig("def infer(self, Y: numpy.typing.ArrayLike) -> " COVARY_MOMENTS))
      .def("fill", fill, "Y"_a, "Means and variances of all outputs given those that are observed.",
           nb::sig("def fill(self, Y: numpy.typing.ArrayLike) -> " COVARY_MOMENTS))
      .def("decode", decode, "X"_a,
           "Mean and variance of the outputs at points of the latent space.",
           nb::sig("def decode(self, X: numpy.typing.ArrayLike) -> " COVARY_MOMENTS))
      .def(
          "log_density",
          [](const PpcaFit& s, const ArrayLike& Y) { return to_numpy(inferred(s, Y).log_density); },
          "Y"_a, nb::rv_policy::move, "log p of the observed cells of each row.",
          nb::sig("def log_density(self, Y: numpy.typing.ArrayLike) -> " COVARY_ARRAY))
      .def_prop_ro(
          "mean", [](const PpcaFit& s) { return to_numpy(RowMatrix(s.mean)); }, nb::rv_policy::move,
          "Means of x given the training rows, N×latent.")
      .def_prop_ro(
          "W", [](const PpcaFit& s) { return to_numpy(RowMatrix(s.W())); }, nb::rv_policy::move,
          "Outputs×latent, in the units the model saw.")
      .def_prop_ro(
          "explained", [](const PpcaFit& s) { return to_numpy(s.pca.explained()); },
          nb::rv_policy::move, "The share of the variance of each dimension.")
      .def_prop_ro(
          "noise_variance", [](const PpcaFit& s) { return s.noise_variance; },
          "In the units the model saw, squared.");
  m.def("fit_ppca", primal, "Y"_a, "latent"_a = 2, "scale"_a = "global",
        "Probabilistic principal components of whole rows; ``scale`` is \"global\", \"columns\" or "
        "\"none\".",
        nb::sig("def fit_ppca(Y: numpy.typing.ArrayLike, latent: int = 2, scale: str = "
                "\"global\") -> PpcaFit"));
  m.def(
      "fit_dual_ppca", dual, "Y"_a, "latent"_a = 2,
      "The dual: inputs X (N×latent) of a linear model whose weights are integrated out, with its "
      "noise variance and log likelihood.",
      nb::sig("def fit_dual_ppca(Y: numpy.typing.ArrayLike, latent: int = 2) -> "
              "tuple[" COVARY_ARRAY ", float, float]"));
}

}  // namespace covary::python
