#include <fmt/format.h>

#include <typeinfo>

#include "covary/error.hpp"
#include "covary/models/generalised_fit.hpp"
#include "inference/posterior_arrays.hpp"
#include "models/entries.hpp"
#include "models/fit_json.hpp"
#include "models/input_map_arrays.hpp"
#include "storage/archive.hpp"

namespace covary {
namespace {

void require_expression(const Likelihood& likelihood) {
  try {
    const Likelihood again(likelihood.print());
    const LikelihoodNode &made = again.node(), &own = likelihood.node();
    if (typeid(made) == typeid(own)) return;
  } catch (const Error&) {  // it is told below
  }
  throw InputError(fmt::format(
      "a file cannot keep the likelihood '{}', which no expression makes; predict where it was "
      "defined",
      likelihood.print()));
}

}  // namespace

void GeneralisedFit::store(Archive& to) const {
  require_expression(likelihood);
  put_posterior(posterior, to.arrays, to.json);
  to.arrays.put_vector("likelihood_parameters", likelihood_parameters);
  put_scaling(to.arrays, "inputs", input_scaling);
  put_scaling(to.arrays, "outputs", output_scaling);
  to.json.update({{"likelihood", likelihood.print()}, {"classes", classes}, {"rows", rows}});
  put_input_map(input_map, to.arrays, to.json);
}

Fit restore_generalised(const Archive& from) {
  const Container& c = from.arrays;
  const auto& j = from.json;
  Posterior posterior = get_posterior(c, j);
  InputMap map = get_input_map(c, j, posterior.dims());
  const Index D = map ? map.inputs() : posterior.dims();
  Likelihood likelihood(j.at("likelihood").get<std::string>());
  const Index P = posterior.functions() / likelihood.functions();
  if (P * likelihood.functions() != posterior.functions())
    throw FileError(fmt::format("{} has {} latent functions, its likelihood needs {} for an output",
                                c.source, posterior.functions(), likelihood.functions()));
  GeneralisedFit fit("", std::move(posterior), likelihood,
                     c.vector("likelihood_parameters", likelihood.parameter_count()));
  get_record(fit, c, j);
  fit.input_scaling = get_scaling(c, "inputs", D);
  fit.output_scaling = get_scaling(c, "outputs", P);
  fit.classes = j.at("classes").get<std::vector<std::string>>();
  fit.rows = j.at("rows").get<Index>();
  fit.input_map = std::move(map);
  check_names(fit, c, D, P);
  const auto classes = static_cast<Index>(fit.classes.size());
  if (classes != 0 && classes != likelihood.classes())
    throw FileError(fmt::format("{} names {} classes, its likelihood has {}", c.source, classes,
                                likelihood.classes()));
  if (!fit.likelihood_parameters.allFinite())
    throw FileError(fmt::format("{} holds values that are not finite", c.source));
  return fit;
}

}  // namespace covary
