#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>

#include "covary/inference/posterior.hpp"
#include "covary/models/fit.hpp"

namespace covary::python {

// From its name, as enum Capability has it; InputError with the nearest for another.
Capability to_capability(const std::string& name);

// Whether the posterior of a fit can be asked for something.
template <class AnyFit>
void bind_can(nanobind::class_<AnyFit, FitNode>& fit) {
  using namespace nanobind::literals;
  fit.def(
      "can",
      [](const AnyFit& self, const std::string& what) {
        return self.posterior.can(to_capability(what));
      },
      "what"_a,
      "Whether the posterior has \"outputs\", \"components\", \"gradients\", \"gaussian_inputs\", "
      "\"function_draws\", \"further_rows\", \"compression\", \"leave_one_out\", "
      "\"training_inputs\", "
      "\"training_outputs\", \"inducing\", \"split\" or \"exact_evidence\".");
}

}  // namespace covary::python
