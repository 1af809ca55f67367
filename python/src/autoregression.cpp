#include "autoregression.hpp"

#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "arrays.hpp"
#include "covary/error.hpp"
#include "covary/models/autoregression.hpp"
#include "parameter_draws.hpp"
#include "unlocked.hpp"

namespace covary::python {

using namespace nb::literals;

#define COVARY_ARRAY "numpy.typing.NDArray[numpy.float64]"
#define COVARY_MOMENTS "tuple[" COVARY_ARRAY ", " COVARY_ARRAY "]"

namespace {

DrawOptions draw_options(Index draws, std::uint64_t seed, const NamedDraws* parameters) {
  DrawOptions out{.draws = draws, .seed = seed};
  if (parameters) out.parameters = parameters->draws.values;
  return out;
}

}  // namespace

void bind_autoregression(nb::module_& m, nb::class_<RegressionFit, FitNode>& fit) {
  m.def(
      "lag_windows",
      [](const ArrayLike& series, Index lags) {
        const Rows rows = to_outputs(series, "series");
        LagWindows w = unlocked([&] { return lag_windows(rows.get(), lags); });
        return std::pair(to_numpy(std::move(w.X)), to_numpy(std::move(w.Y)));
      },
      "series"_a, "lags"_a,
      "Inputs and outputs of an autoregression: the windows of T or T×P values, the oldest lag "
      "first, "
      "and the values after them. Windows with a missing input are ignored.",
      nb::sig("def lag_windows(series: numpy.typing.ArrayLike, lags: int) -> " COVARY_MOMENTS));
  m.def("lag_names", LagWindows::names, "series"_a, "lags"_a,
        "Names of the inputs of an autoregression of series with these names, by which the command "
        "line recognises one.");
  fit.def(
      "simulate",
      [](const RegressionFit& s, const ArrayLike& series, Index steps, const std::string& how,
         Index draws, std::uint64_t seed, const NamedDraws* parameters) {
        const Rows rows = to_outputs(series, "series");
        const Propagation propagation = parse_propagation(how);
        if (parameters && propagation != Propagation::draws)
          throw InputError("parameters need propagation='draws'");
        const DrawOptions options = draw_options(draws, seed, parameters);
        Prediction p =
            unlocked([&] { return simulate(s, rows.get(), steps, propagation, options); });
        return std::pair(outputs_to_numpy(std::move(p.mean)),
                         outputs_to_numpy(std::move(p.variance_y)));
      },
      "series"_a, "steps"_a, "propagation"_a = "moments", "draws"_a = 100, "seed"_a = 0,
      "parameters"_a = nb::none(),
      "For an autoregression, whose inputs are lag_windows: mean and variance, noise included, "
      "of the steps after the end of a series. Predictions are fed back as Gaussians "
      "('moments'), also as further data ('augmented', for 'vfe' only), or as if they had been "
      "observed ('plug-in'); or the moments are those of independent draws of f ('draws'), with "
      "draws and seed; with parameters, from sample_parameters(), each draw takes the next of "
      "those.",
      nb::sig("def simulate(self, series: numpy.typing.ArrayLike, steps: int, "
              "propagation: str = 'moments', draws: int = 100, seed: int = 0, "
              "parameters: ParameterDraws | None = None) -> " COVARY_MOMENTS));
  fit.def(
      "simulate_draws",
      [](const RegressionFit& s, const ArrayLike& series, Index steps, Index draws,
         std::uint64_t seed, const NamedDraws* parameters) {
        const Rows rows = to_outputs(series, "series");
        const DrawOptions options = draw_options(draws, seed, parameters);
        return draws_to_numpy(
            unlocked([&] { return simulate_draws(s, rows.get(), steps, options); }));
      },
      "series"_a, "steps"_a, "draws"_a = 100, "seed"_a = 0, "parameters"_a = nb::none(),
      "For an autoregression: possible continuations of the series, each along one draw of f "
      "with noise at every step; draws×steps, or draws×steps×P.",
      nb::sig("def simulate_draws(self, series: numpy.typing.ArrayLike, steps: int, "
              "draws: int = 100, seed: int = 0, "
              "parameters: ParameterDraws | None = None) -> " COVARY_ARRAY));
}

}  // namespace covary::python
