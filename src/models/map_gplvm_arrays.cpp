#include "models/map_gplvm_arrays.hpp"

#include <fmt/format.h>

#include "covary/error.hpp"
#include "models/fit_json.hpp"
#include "models/latent_arrays.hpp"

namespace covary {

using nlohmann::json;

Container map_gplvm_container(const MapGplvmFit& fit) {
  Container c;
  std::vector<StoredView> views;
  views.reserve(fit.mappings.size());
  for (const auto& m : fit.mappings) views.push_back({m.view, m.posterior, m.scaling});
  json j{{"kind", "map_gplvm"},
         {"model", "map_gplvm"},
         {"views", to_json(views, c)},
         {"log_likelihood", number(fit.log_likelihood)},
         {"log_prior", number(fit.log_prior)},
         {"parameters", to_json(fit.parameters, c)},
         {"summary", to_json(fit.summary)},
         {"output_names", fit.output_names},
         {"row_labels", fit.row_labels}};
  if (fit.recognition) {
    const RecognitionOptions& o = fit.recognition->options();
    j["back_constraint"] = {{"form", o.form},
                            {"kernel", o.kernel.print()},
                            {"lengthscale", o.lengthscale},
                            {"hidden", o.hidden}};
    c.put_vector("back_constraint.values", fit.recognition_values);
  }
  if (fit.dynamics) {
    j["dynamics"] = to_json(*fit.dynamics, fit.time_names, c);
    c.put_vector("dynamics.theta", fit.dynamics_theta);
  }
  c.metadata = j.dump();
  return c;
}

namespace {

// The rows that the back constraint was made of: the outputs of the views side by side.
RowMatrix outputs_of(const MapGplvmFit& fit) {
  RowMatrix out(fit.X.rows(), fit.outputs());
  Index at = 0;
  for (const auto& m : fit.mappings) {
    const RowMatrix& Y = m.posterior.training_outputs();
    out.middleCols(at, Y.cols()) = Y;
    at += Y.cols();
  }
  return out;
}

void get_back_constraint(const Container& c, const json& j, MapGplvmFit& fit) {
  RecognitionOptions o;
  o.form = j.at("form").get<std::string>();
  o.kernel = Kernel(j.at("kernel").get<std::string>());
  o.lengthscale = j.at("lengthscale").get<double>();
  o.hidden = j.at("hidden").get<Index>();
  fit.recognition = make_recognition(std::move(o), outputs_of(fit), fit.latent());
  fit.recognition_values = c.vector("back_constraint.values", fit.recognition->parameter_count());
  if (!fit.recognition_values.allFinite())
    throw FileError(fmt::format("{} has no usable back constraint", c.source));
}

}  // namespace

MapGplvmFit map_gplvm_from(const Container& c, const json& j) {
  if (j.at("model") != "map_gplvm")
    throw FileError(fmt::format("{} is said to be of map_gplvm and of another model", c.source));
  MapGplvmFit fit;
  for (StoredView& v : views_from(c, j.at("views"), true))
    fit.mappings.push_back(
        {std::move(v.view), v.posterior.as<ExactPosterior>(), std::move(v.scaling)});
  fit.X = fit.mappings.front().posterior.parts().X;
  for (const auto& m : fit.mappings)
    if (m.posterior.parts().X != fit.X || !m.posterior.has_outputs())
      throw FileError(fmt::format("{}: its views do not have the same inputs", c.source));
  fit.parameters = parameters_from(j.at("parameters"), c);
  fit.summary = summary_from(j.at("summary"));
  fit.log_likelihood = number_or_nan(j.at("log_likelihood"));
  fit.log_prior = number_or_nan(j.at("log_prior"));
  RowNames names = row_names_from(c, j, fit.outputs(), fit.X.rows());
  fit.output_names = std::move(names.outputs);
  fit.row_labels = std::move(names.labels);
  if (j.contains("back_constraint")) get_back_constraint(c, j.at("back_constraint"), fit);
  if (j.contains("dynamics")) {
    fit.dynamics = dynamics_from(c, j.at("dynamics"), fit.X.rows(), fit.latent(), fit.time_names);
    const DynamicalOptions& o = fit.dynamics->options();
    fit.dynamics_theta = c.vector("dynamics.theta", o.kernel.parameter_count(o.times.cols()));
    if (!(fit.dynamics_theta.minCoeff() >= 0.0) || !fit.dynamics_theta.allFinite())
      throw FileError(fmt::format("{} has no usable dynamics", c.source));
  }
  return fit;
}

}  // namespace covary
