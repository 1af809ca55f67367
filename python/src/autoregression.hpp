#pragma once

#include <nanobind/nanobind.h>

#include "covary/models/model_file.hpp"

namespace covary::python {

// Windows of lags, and Fit.simulate().
void bind_autoregression(nanobind::module_& m, nanobind::class_<SavedModel>& fit);

}  // namespace covary::python
