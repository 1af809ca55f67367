#pragma once

#include <nanobind/nanobind.h>

#include "covary/models/regression.hpp"

namespace covary::python {

// The methods of RegressionFit that take new rows.
void bind_predictions(nanobind::class_<RegressionFit, FitNode>& fit);

}  // namespace covary::python
