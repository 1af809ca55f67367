#include <fmt/format.h>

#include "covary/error.hpp"
#include "covary/models/ppca.hpp"
#include "models/entries.hpp"
#include "models/fit_json.hpp"
#include "models/latent_arrays.hpp"
#include "storage/archive.hpp"

namespace covary {

void PpcaFit::store(Archive& to) const {
  put_scaling(to.arrays, "outputs", scaling);
  put_pca(to.arrays, pca);
  to.arrays.put_vector("noise_variance", Vector::Constant(1, noise_variance));
  to.arrays.put_rows("latent.mean", mean);
  to.json.update({{"pca", latent()}, {"row_labels", row_labels}});
}

Fit restore_ppca(const Archive& from) {
  const Container& c = from.arrays;
  const auto& j = from.json;
  if (j.at("model") != "ppca") throw FileError(fmt::format("{} has an unknown kind", c.source));
  PpcaFit fit;
  get_record(fit, c, j);
  fit.pca = get_pca(c, j.at("pca").get<Index>());
  fit.scaling = get_scaling(c, "outputs", fit.outputs());
  fit.noise_variance = c.vector("noise_variance", 1)(0);
  fit.mean = c.rows("latent.mean", -1, fit.latent());
  fit.row_labels = row_labels_from(fit, c, j, fit.outputs(), fit.mean.rows());
  if (!(fit.noise_variance > 0.0) || !(fit.noise_variance <= fit.pca.variances.minCoeff()) ||
      fit.mean.rows() == 0 || !fit.mean.allFinite())
    throw FileError(fmt::format("{} has no usable noise or latent means", c.source));
  return fit;
}

}  // namespace covary
