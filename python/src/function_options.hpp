#pragma once

#include "covary/models/function_options.hpp"
#include "expressions.hpp"
#include "targets.hpp"

// What the models of any likelihood take alike.
namespace covary::python {

struct FunctionArguments {
  const KernelLike& kernel;
  const MeanLike& mean;
  nb::handle aux, weights;
  std::optional<bool> separate_kernels;  // nothing: unless they are the classes of one model
  const std::string& scale;
  Index pca, gplvm;
};
FunctionOptions to_function_options(const FunctionArguments& a, Targets targets,
                                    const TrainingData& data);

// For pickles.
nb::tuple get_state(const FunctionOptions& options);
FunctionOptions function_options_from(const nb::tuple& state);
// Of a latent space that was trained; of another map, which is found anew, nothing.
nb::object trained_map(const InputMap& map);
InputMap map_from(const nb::object& state);

}  // namespace covary::python
