#pragma once

#include <fmt/format.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "bindings.hpp"
#include "latent_tables.hpp"
#include "parameters.hpp"
#include "tables.hpp"

#define COVARY_ARRAY "numpy.typing.NDArray[numpy.float64]"
#define COVARY_MOMENTS "tuple[" COVARY_ARRAY ", " COVARY_ARRAY "]"

// What the fits of latent-variable models have in common, whether their latent inputs are
// distributions or points.
namespace covary::python {

using Moments = std::pair<NumpyArray, NumpyArray>;

// Names for outputs, and times if there are any, that had none.
template <class Fit>
void name_columns(Fit& fit, Index outputs, Index times) {
  for (Index p = 0; p < outputs; ++p) fit.output_names.push_back(fmt::format("c{}", p));
  for (Index d = 0; fit.dynamics && d < times; ++d) fit.time_names.push_back(fmt::format("t{}", d));
}

template <class LatentFit>
void bind_latent_space(nb::class_<LatentFit, FitNode>& fit) {
  using namespace nb::literals;
  fit.def(
         "decode",
         [](const LatentFit& self, const ArrayLike& X, const ArrayLike& variance) -> Moments {
           const Rows at = to_inputs(X);
           const RowMatrix with = table_or_nothing(variance, "variance");
           Prediction p = unlocked(
               [&] { return with.size() ? self.decode(at.get(), with) : self.decode(at.get()); });
           return {to_numpy(std::move(p.mean)), to_numpy(std::move(p.variance_y))};
         },
         "X"_a, "variance"_a = nb::none(),
         "Mean and variance of the outputs at points of the latent space, or at Gaussians with "
         "these variances.",
         nb::sig("def decode(self, X: numpy.typing.ArrayLike, "
                 "variance: numpy.typing.ArrayLike | None = None) -> " COVARY_MOMENTS))
      .def(
          "sample",
          [](const LatentFit& self, const ArrayLike& X, Index draws, std::uint64_t seed) {
            const Rows at = to_inputs(X);
            return draws_like(X, unlocked([&] { return self.sample(at.get(), draws, seed); }));
          },
          "X"_a, "draws"_a = 1, "seed"_a = 0,
          "Joint draws of the outputs, without noise, at points of the latent space: draws×n×P.",
          nb::sig("def sample(self, X: numpy.typing.ArrayLike, draws: int = 1, seed: int = 0) "
                  "-> " COVARY_ARRAY))
      .def(
          "forecast",
          [](const LatentFit& self, const ArrayLike& times, Index sequence) -> Moments {
            const Rows at = to_outputs(times, "times");
            LatentMarginals x = unlocked([&] { return self.forecast(at.get(), sequence); });
            return {to_numpy(std::move(x.mean)), to_numpy(std::move(x.variance))};
          },
          "times"_a, "sequence"_a = 0,
          "Means and variances of the latent inputs at further times of a sequence, or with −1 of "
          "a new one.",
          nb::sig("def forecast(self, times: numpy.typing.ArrayLike, sequence: int = 0) "
                  "-> " COVARY_MOMENTS))
      .def_prop_ro(
          "views",
          [](const LatentFit& self) {
            nb::dict out;
            for (const auto& mapping : self.mappings)
              out[mapping.view.name.c_str()] = mapping.view.columns;
            return out;
          },
          "Names and columns of the views.", nb::sig("def views(self) -> dict[str, list[int]]"));
}

}  // namespace covary::python
