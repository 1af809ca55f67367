#include <fmt/format.h>

#include <cmath>

#include "covary/error.hpp"
#include "covary/models/class_density.hpp"
#include "models/entries.hpp"
#include "models/fit_json.hpp"
#include "models/latent_arrays.hpp"
#include "storage/archive.hpp"

namespace covary {

using nlohmann::json;

void ClassDensityFit::store(Archive& to) const {
  json& stored = to.json["class_densities"] = json::array();
  for (std::size_t k = 0; k < densities.size(); ++k) {
    Container own = container_of(densities[k]);
    stored.push_back(json::parse(own.metadata));
    put_nested(to.arrays, fmt::format("class{}.", k), std::move(own));
  }
  to.arrays.put_vector("log_prior", log_class_prior);
  to.json["classes"] = classes;
}

Fit restore_class_density(const Archive& from) {
  const Container& c = from.arrays;
  const json& j = from.json;
  ClassDensityFit fit;
  get_record(fit, c, j);
  const json& stored = j.at("class_densities");
  for (std::size_t k = 0; k < stored.size(); ++k)
    fit.densities.push_back(latent_from(get_nested(c, fmt::format("class{}.", k)), stored.at(k)));
  if (fit.densities.size() < 2) throw FileError(fmt::format("{} has no classes", c.source));
  for (const GplvmFit& d : fit.densities)
    if (d.outputs() != fit.inputs())
      throw FileError(fmt::format("{}: its classes do not have the same inputs", c.source));
  check_names(fit, c, fit.inputs(), 1);
  const Vector& prior = fit.log_class_prior = c.vector("log_prior", fit.size());
  if (!prior.allFinite() || std::abs(prior.array().exp().sum() - 1.0) > 1e-9)
    throw FileError(fmt::format("{}: the class prior does not sum to one", c.source));
  fit.classes = j.at("classes").get<std::vector<std::string>>();
  if (!fit.classes.empty() && static_cast<Index>(fit.classes.size()) != fit.size())
    throw FileError(
        fmt::format("{} names {} classes and has {}", c.source, fit.classes.size(), fit.size()));
  return fit;
}

}  // namespace covary
