#pragma once

#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "arrays.hpp"
#include "covary/models/gplvm_fit.hpp"

namespace covary::python {

// None is empty.
inline RowMatrix table_or_nothing(const ArrayLike& object, const char* name) {
  return object.is_none() ? RowMatrix() : RowMatrix(to_outputs(object, name).get());
}

// A dictionary of names and lists of columns; None is no view.
inline std::vector<LatentView> to_views(const nb::object& views) {
  std::vector<LatentView> out;
  if (views.is_none()) return out;
  for (const auto& [name, columns] : nb::cast<nb::dict>(views))
    out.push_back({nb::cast<std::string>(name), nb::cast<std::vector<Index>>(columns)});
  return out;
}

// What says of them which they are.
inline nb::list to_state(const std::vector<LatentView>& views) {
  nb::list out;
  for (const LatentView& view : views) out.append(nb::make_tuple(view.name, view.columns));
  return out;
}

}  // namespace covary::python
