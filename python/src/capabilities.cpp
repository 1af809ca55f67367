#include "capabilities.hpp"

#include <fmt/format.h>

#include <string>
#include <vector>

#include "covary/error.hpp"
#include "covary/parameters/suggest.hpp"

namespace covary::python {

Capability to_capability(const std::string& name) {
  constexpr std::pair<const char*, Capability> all[] = {
      {"outputs", Capability::outputs},
      {"components", Capability::components},
      {"gradients", Capability::gradients},
      {"gaussian_inputs", Capability::gaussian_inputs},
      {"function_draws", Capability::function_draws},
      {"further_rows", Capability::further_rows},
      {"compression", Capability::compression},
      {"leave_one_out", Capability::leave_one_out},
      {"training_inputs", Capability::training_inputs},
      {"training_outputs", Capability::training_outputs},
      {"inducing", Capability::inducing},
      {"split", Capability::split},
      {"exact_evidence", Capability::exact_evidence}};
  std::vector<std::string> names;
  for (const auto& [known, capability] : all) {
    if (name == known) return capability;
    names.emplace_back(known);
  }
  throw InputError(fmt::format("unknown capability '{}'{}; choose {}", name,
                               did_you_mean(name, names), fmt::join(names, ", ")));
}

}  // namespace covary::python
