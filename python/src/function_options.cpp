#include "function_options.hpp"

#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <span>

#include "covary/models/gplvm_fit.hpp"

namespace covary::python {

FunctionOptions to_function_options(const FunctionArguments& a, Targets targets,
                                    const TrainingData& data) {
  FunctionOptions o;
  o.kernel = to_kernel(a.kernel);
  o.likelihood = std::move(targets.likelihood);
  o.mean = to_mean(a.mean);
  o.separate_kernels = a.separate_kernels.value_or(functions_differ(o.likelihood));
  o.aux = to_vector(a.aux, "aux");
  o.weights = to_vector(a.weights, "weights");
  o.classes = std::move(targets.classes);
  o.scale_inputs = to_scale_mode(a.scale, data.X);
  o.scale_outputs = to_scale_mode(a.scale, data.Y);
  o.pca = a.pca;
  o.gplvm = a.gplvm;
  return o;
}

nb::tuple get_state(const FunctionOptions& o) {
  const auto number = [](auto e) { return static_cast<int>(e); };
  return nb::make_tuple(o.kernel, o.likelihood.print(), o.mean, o.separate_kernels,
                        to_numpy(Vector(o.aux)), to_numpy(Vector(o.weights)), o.classes,
                        number(o.scale_inputs), number(o.scale_outputs), o.pca, o.gplvm, o.seed);
}

FunctionOptions function_options_from(const nb::tuple& t) {
  FunctionOptions o;
  o.kernel = nb::cast<Kernel>(t[0]);
  o.likelihood = nb::cast<std::string>(t[1]);
  o.mean = nb::cast<Mean>(t[2]);
  o.separate_kernels = nb::cast<bool>(t[3]);
  o.aux = to_vector(t[4], "aux");
  o.weights = to_vector(t[5], "weights");
  o.classes = nb::cast<std::vector<std::string>>(t[6]);
  o.scale_inputs = static_cast<ScaleMode>(nb::cast<int>(t[7]));
  o.scale_outputs = static_cast<ScaleMode>(nb::cast<int>(t[8]));
  o.pca = nb::cast<Index>(t[9]);
  o.gplvm = nb::cast<Index>(t[10]);
  o.seed = nb::cast<std::uint64_t>(t[11]);
  return o;
}

nb::object trained_map(const InputMap& map) {
  if (!map.gplvm()) return nb::none();
  const auto bytes = map.gplvm()->fit().bytes();
  return nb::bytes(bytes.data(), bytes.size());
}

InputMap map_from(const nb::object& state) {
  if (state.is_none()) return {};
  const auto bytes = nb::cast<nb::bytes>(state);
  const std::span all(static_cast<const std::byte*>(bytes.data()), bytes.size());
  return InputMap(LatentFeatures(load_bytes(all).as<GplvmFit>()));
}

}  // namespace covary::python
