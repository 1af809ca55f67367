#pragma once

#include <nanobind/nanobind.h>

#include <string>

#include "covary/parameters/parameters.hpp"

namespace covary::python {

// A number for one entry, else an array in the shape of the parameter.
nanobind::object to_python(const Parameter& p, ConstVector values);
// The table of parameters as HTML; standard errors of the free entries, or null.
std::string html_table(const Parameters& parameters, const Vector* standard_errors = nullptr);

}  // namespace covary::python
