#include "models/ppca_arrays.hpp"

#include <fmt/format.h>

#include "covary/error.hpp"
#include "models/fit_json.hpp"
#include "models/latent_arrays.hpp"

namespace covary {

using nlohmann::json;

Container ppca_container(const PpcaFit& fit) {
  Container c;
  put_scaling(c, "outputs", fit.scaling);
  put_pca(c, fit.pca);
  c.put_vector("noise_variance", Vector::Constant(1, fit.noise_variance));
  c.put_rows("latent.mean", fit.mean);
  const json j{{"kind", "ppca"},
               {"model", "ppca"},
               {"pca", fit.latent()},
               {"log_likelihood", number(fit.log_likelihood)},
               {"output_names", fit.output_names},
               {"row_labels", fit.row_labels}};
  c.metadata = j.dump();
  return c;
}

PpcaFit ppca_from(const Container& c, const json& j) {
  if (j.at("model") != "ppca") throw FileError(fmt::format("{} is of no known kind", c.source));
  PpcaFit fit;
  fit.pca = get_pca(c, j.at("pca").get<Index>());
  fit.scaling = get_scaling(c, "outputs", fit.outputs());
  fit.noise_variance = c.vector("noise_variance", 1)(0);
  fit.mean = c.rows("latent.mean", -1, fit.latent());
  fit.log_likelihood = number_or_nan(j.at("log_likelihood"));
  RowNames names = row_names_from(c, j, fit.outputs(), fit.mean.rows());
  fit.output_names = std::move(names.outputs);
  fit.row_labels = std::move(names.labels);
  if (!(fit.noise_variance > 0.0) || !(fit.noise_variance <= fit.pca.variances.minCoeff()) ||
      fit.mean.rows() == 0 || !fit.mean.allFinite())
    throw FileError(fmt::format("{} has no usable noise or latent means", c.source));
  return fit;
}

}  // namespace covary
