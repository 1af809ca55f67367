#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "arrays.hpp"
#include "bindings.hpp"
#include "covary/training/summary.hpp"

namespace covary::python {

void bind_summary(nb::module_& m) {
  nb::class_<Summary>(m, "Summary", "What training did. Prints itself.")
      .def_ro("objective", &Summary::objective)
      .def_ro("value", &Summary::value, "The objective at the end, in the units of the data.")
      .def_ro("initial_value", &Summary::initial_value)
      .def_ro("iterations", &Summary::iterations)
      .def_ro("evaluations", &Summary::evaluations)
      .def_ro("converged", &Summary::converged)
      .def_ro("reason", &Summary::reason, "Why training stopped.")
      .def_ro("gradient_norm", &Summary::gradient_norm)
      .def_ro("seconds", &Summary::seconds)
      .def_ro("jitter", &Summary::jitter)
      .def_ro("route", &Summary::route)
      .def_ro("warnings", &Summary::warnings)
      .def_ro("best_start", &Summary::best_start)
      .def_prop_ro(
          "trace",
          [](const Summary& s) {
            RowMatrix out(static_cast<Index>(s.trace.size()), 4);
            for (Index i = 0; i < out.rows(); ++i) {
              const auto& p = s.trace[static_cast<std::size_t>(i)];
              out.row(i) << static_cast<double>(p.iteration), p.value, p.gradient_norm, p.seconds;
            }
            return to_numpy(std::move(out));
          },
          nb::rv_policy::move,
          "Trace of the best start, one row per iteration: iteration, value, gradient norm, "
          "seconds.")
      .def("__str__", &Summary::full)
      .def("__repr__", &Summary::brief);
}

}  // namespace covary::python
