#pragma once

#include <nanobind/nanobind.h>

#include "covary/models/model_file.hpp"

namespace covary::python {

// The methods of Fit that take new rows.
void bind_predictions(nanobind::class_<SavedModel>& fit);

}  // namespace covary::python
