#include "autoregression.hpp"

#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "arrays.hpp"
#include "covary/models/autoregression.hpp"
#include "unlocked.hpp"

namespace covary::python {

using namespace nb::literals;

#define COVARY_ARRAY "numpy.typing.NDArray[numpy.float64]"
#define COVARY_MOMENTS "tuple[" COVARY_ARRAY ", " COVARY_ARRAY "]"

void bind_autoregression(nb::module_& m, nb::class_<SavedModel>& fit) {
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
      "and the values after them. Windows with a missing input are left out.",
      nb::sig("def lag_windows(series: numpy.typing.ArrayLike, lags: int) -> " COVARY_MOMENTS));
  m.def("lag_names", lag_names, "series"_a, "lags"_a,
        "Names of the inputs of an autoregression of series of these names, by which the command "
        "line knows one.");
  fit.def(
      "simulate",
      [](const SavedModel& s, const ArrayLike& series, Index steps, const std::string& how) {
        const Rows rows = to_outputs(series, "series");
        const Propagation propagation = parse_propagation(how);
        Prediction p = unlocked([&] { return simulate(s.fit, rows.get(), steps, propagation); });
        return std::pair(outputs_to_numpy(std::move(p.mean)),
                         outputs_to_numpy(std::move(p.variance_y)));
      },
      "series"_a, "steps"_a, "propagation"_a = "moments",
      "Of an autoregression, whose inputs are lag_windows: mean and variance, noise included, of "
      "the "
      "steps after the end of a series. Predictions are fed back as Gaussians ('moments'), also as "
      "further data ('augmented', of 'vfe'), or as if they had been observed ('plug-in').",
      nb::sig("def simulate(self, series: numpy.typing.ArrayLike, steps: int, "
              "propagation: str = 'moments') -> " COVARY_MOMENTS));
}

}  // namespace covary::python
