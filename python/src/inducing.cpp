#include "inducing.hpp"

#include <fmt/format.h>

#include "covary/error.hpp"
#include "tables.hpp"

namespace covary::python {

Inducing to_inducing(nb::handle inducing, const TrainingData& data, const char* none) {
  Inducing out;
  if (inducing.is_none()) return out;
  if (is_table(inducing) ||
      nb::cast<int>(nb::module_::import_("numpy").attr("ndim")(inducing)) > 0) {
    out.Z = is_table(inducing) ? to_inputs(inducing, data.inputs()).get()
                               : to_inputs(inducing, "inducing").get();
    if (out.Z.rows() == 0)
      throw InputError(fmt::format("inducing has no rows; None takes {}", none));
    return out;
  }
  const nb::object number =
      PyBool_Check(inducing.ptr()) ? nb::object() : nb::steal(PyNumber_Index(inducing.ptr()));
  if (!number.is_valid()) PyErr_Clear();
  Index count = 0;
  if (!number.is_valid() || !nb::try_cast(number, count) || count < 1)
    throw InputError(fmt::format(
        "inducing must be at least 1, an array of inducing inputs, or None for {1}; got {0}",
        nb::repr(inducing).c_str(), none));
  out.number = count;
  return out;
}

}  // namespace covary::python
