#pragma once

#include <nanobind/nanobind.h>

namespace covary::python {

// Runs the work without the interpreter's lock.
template <class Work>
auto unlocked(const Work& work) {
  const nanobind::gil_scoped_release release;
  return work();
}

}  // namespace covary::python
