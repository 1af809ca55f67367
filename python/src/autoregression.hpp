#pragma once

#include <nanobind/nanobind.h>

#include "covary/models/regression.hpp"

namespace covary::python {

// Windows of lags, and RegressionFit.simulate().
void bind_autoregression(nanobind::module_& m, nanobind::class_<RegressionFit, FitNode>& fit);

}  // namespace covary::python
