#include "parameter_draws.hpp"

#include <fmt/format.h>
#include <nanobind/stl/string.h>

#include "arrays.hpp"
#include "unlocked.hpp"

namespace covary::python {

using namespace nb::literals;

void bind_parameter_draws(nb::module_& m, nb::class_<RegressionFit, FitNode>& fit) {
  nb::class_<NamedDraws>(m, "ParameterDraws",
                         "Draws of a model's parameters from their posterior, to be given to "
                         "predict_f, predict_y, simulate and simulate_draws.")
      .def_prop_ro(
          "values",
          [](const NamedDraws& d) {
            nb::dict out;
            for (const Parameter& p : d.parameters.all())
              out[p.path.c_str()] = outputs_to_numpy(RowMatrix(
                  d.draws.values.middleCols(d.parameters.offset(p.path), p.value.size())));
            return out;
          },
          "By path, in the units the model sees: draws, or draws×entries of a vector.",
          nb::sig("def values(self) -> dict[str, numpy.typing.NDArray[numpy.float64]]"))
      .def_prop_ro(
          "r_hat", [](const NamedDraws& d) { return d.draws.r_hat; },
          "The largest ratio of the spread over all chains to that within them; above 1.1 they do "
          "not agree.")
      .def_prop_ro(
          "evaluations", [](const NamedDraws& d) { return d.draws.evaluations; },
          "Number of evaluations of the evidence.")
      .def("__len__", [](const NamedDraws& d) { return d.draws.values.rows(); })
      .def("__repr__", [](const NamedDraws& d) {
        return fmt::format("<{} draws of {} parameters, R-hat {:.3f}>", d.draws.values.rows(),
                           d.parameters.free_size(), d.draws.r_hat);
      });
  fit.def(
      "sample_parameters",
      [](const RegressionFit& s, Index draws, std::uint64_t seed, Index chains, Index burn_in,
         Index thin) {
        const ParameterDrawOptions options{draws, chains, burn_in, thin, seed};
        return NamedDraws{unlocked([&] { return sample_parameters(s, options); }), s.parameters};
      },
      "draws"_a = 100, "seed"_a = 0, "chains"_a = 4, "burn_in"_a = 100, "thin"_a = 5,
      "For an exact model: draws of its parameters from their posterior given the data, by slice "
      "sampling. A parameter without a prior gets a wide one around its data-scaled start. burn_in "
      "and thin count sweeps of each chain.");
}

}  // namespace covary::python
