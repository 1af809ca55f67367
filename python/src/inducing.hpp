#pragma once

#include <optional>

#include "training_data.hpp"

namespace covary::python {

// What the argument `inducing` asks for: nothing, a number, or the inducing inputs themselves in
// the units of the data, a table of which has its columns by name.
struct Inducing {
  std::optional<Index> number;
  RowMatrix Z;
};

// `none` says in messages what None stands for.
Inducing to_inducing(nb::handle inducing, const TrainingData& data, const char* none);

}  // namespace covary::python
