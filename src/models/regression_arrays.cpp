#include <fmt/format.h>

#include "covary/error.hpp"
#include "covary/models/regression.hpp"
#include "inference/posterior_arrays.hpp"
#include "models/entries.hpp"
#include "models/fit_json.hpp"
#include "storage/archive.hpp"

namespace covary {

void RegressionFit::store(Archive& to) const {
  put_posterior(posterior, to.arrays, to.json);
  put_scaling(to.arrays, "inputs", input_scaling);
  put_scaling(to.arrays, "outputs", output_scaling);
  to.json["likelihood"] = "gaussian";
  if (data_rows > 0) to.json["rows"] = data_rows;
}

Fit restore_regression(const Archive& from) {
  const Container& c = from.arrays;
  Posterior posterior = get_posterior(c, from.json);
  if (!posterior.can(Capability::outputs))
    throw FileError(fmt::format("{} does not hold the posterior of its model", c.source));
  const Index D = posterior.dims(), P = posterior.functions();
  RegressionFit fit(std::move(posterior), get_scaling(c, "inputs", D),
                    get_scaling(c, "outputs", P));
  const std::string name = fit.model;
  get_record(fit, c, from.json);
  if (fit.model != name && !(fit.model == "noisy_inputs" && name == "vfe"))
    throw FileError(fmt::format("{} does not hold the posterior of its model", c.source));
  fit.data_rows = from.json.value("rows", Index{0});
  check_names(fit, c, D, P);
  return fit;
}

}  // namespace covary
