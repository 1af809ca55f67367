#pragma once

#include <functional>
#include <optional>

#include "covary/linalg/types.hpp"

namespace covary {

// A function of the flat unconstrained vector u, to be minimised. It returns its value and, when
// `gradient` is not null, writes ∂/∂u there (the vector has the size of u on entry). It may fail:
// by returning nothing, a value or a gradient that is not finite, or by throwing NumericalError.
// Inside an optimiser a failed evaluation is a rejected step and never ends the run; any other
// exception does.
using Objective = std::function<std::optional<double>(const Vector& u, Vector* gradient)>;

}  // namespace covary
