#pragma once

#include <nanobind/nanobind.h>

#include "covary/models/parameter_draws.hpp"
#include "covary/models/regression.hpp"

namespace covary::python {

// With the parameters whose values they are, for their names.
struct NamedDraws {
  ParameterDraws draws;
  Parameters parameters;
};

// ParameterDraws, and Fit.sample_parameters().
void bind_parameter_draws(nanobind::module_& m, nanobind::class_<RegressionFit, FitNode>& fit);

}  // namespace covary::python
