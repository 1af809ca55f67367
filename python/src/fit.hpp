#pragma once

#include "arrays.hpp"
#include "covary/models/fit.hpp"

namespace covary::python {

// As the class that a fit is of, below Fit.
nb::object to_python(const Fit& fit);
// A note, to the logger 'covary'.
void tell(const std::string& line);

}  // namespace covary::python
