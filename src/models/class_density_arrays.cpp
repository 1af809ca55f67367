#include "models/class_density_arrays.hpp"

#include <fmt/format.h>

#include <cmath>

#include "covary/error.hpp"
#include "models/fit_json.hpp"
#include "models/latent_arrays.hpp"

namespace covary {

using nlohmann::json;

json put_class_density(const ClassDensityFit& fit, Container& c) {
  json densities = json::array();
  for (std::size_t k = 0; k < fit.densities.size(); ++k) {
    Container own = latent_container(fit.densities[k]);
    densities.push_back(json::parse(own.metadata));
    put_nested(c, fmt::format("class{}.", k), std::move(own));
  }
  c.put_vector("log_prior", fit.log_prior);
  return {{"kind", "class_density"},        {"model", "class_density"},
          {"class_densities", densities},   {"classes", fit.classes},
          {"input_names", fit.input_names}, {"output_name", fit.output_name}};
}

ClassDensityFit get_class_density(const Container& c, const json& j) {
  ClassDensityFit fit;
  const json& densities = j.at("class_densities");
  for (std::size_t k = 0; k < densities.size(); ++k)
    fit.densities.push_back(
        latent_from(get_nested(c, fmt::format("class{}.", k)), densities.at(k)));
  if (fit.densities.size() < 2) throw FileError(fmt::format("{} has no classes", c.source));
  for (const GplvmFit& d : fit.densities)
    if (d.outputs() != fit.inputs())
      throw FileError(fmt::format("{}: its classes do not have the same inputs", c.source));
  fit.log_prior = c.vector("log_prior", fit.size());
  if (!fit.log_prior.allFinite() || std::abs(fit.log_prior.array().exp().sum() - 1.0) > 1e-9)
    throw FileError(fmt::format("{}: the prior of its classes is no distribution", c.source));
  fit.classes = j.at("classes").get<std::vector<std::string>>();
  fit.input_names = j.at("input_names").get<std::vector<std::string>>();
  fit.output_name = j.at("output_name").get<std::string>();
  if (!fit.classes.empty() && static_cast<Index>(fit.classes.size()) != fit.size())
    throw FileError(
        fmt::format("{} names {} classes and has {}", c.source, fit.classes.size(), fit.size()));
  return fit;
}

}  // namespace covary
