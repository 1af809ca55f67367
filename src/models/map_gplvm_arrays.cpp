#include <fmt/format.h>

#include "covary/error.hpp"
#include "covary/models/map_gplvm.hpp"
#include "models/entries.hpp"
#include "models/fit_json.hpp"
#include "models/latent_arrays.hpp"
#include "storage/archive.hpp"

namespace covary {

using nlohmann::json;

void MapGplvmFit::store(Archive& to) const {
  std::vector<StoredView> views;
  views.reserve(mappings.size());
  for (const auto& m : mappings) views.push_back({m.view, m.posterior, m.scaling});
  to.json["views"] = to_json(views, to.arrays);
  to.json["row_labels"] = row_labels;
  if (recognition) {
    const RecognitionOptions& o = recognition->options();
    to.json["back_constraint"] = {{"form", o.form},
                                  {"kernel", o.kernel.print()},
                                  {"lengthscale", o.lengthscale},
                                  {"hidden", o.hidden}};
    to.arrays.put_vector("back_constraint.values", recognition_values);
  }
  if (dynamics) {
    to.json["dynamics"] = to_json(*dynamics, time_names, to.arrays);
    to.arrays.put_vector("dynamics.theta", dynamics_theta);
  }
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

Fit restore_map_gplvm(const Archive& from) {
  const Container& c = from.arrays;
  const json& j = from.json;
  if (j.at("model") != "map_gplvm")
    throw FileError(fmt::format("{} names map_gplvm and another model", c.source));
  MapGplvmFit fit;
  for (StoredView& v : views_from(c, j.at("views"), true))
    fit.mappings.push_back(
        {std::move(v.view), v.posterior.as<ExactPosterior>(), std::move(v.scaling)});
  fit.X = fit.mappings.front().posterior.parts().X;
  for (const auto& m : fit.mappings)
    if (m.posterior.parts().X != fit.X || !m.posterior.has_outputs())
      throw FileError(fmt::format("{}: its views do not have the same inputs", c.source));
  get_record(fit, c, j);
  fit.row_labels = row_labels_from(fit, c, j, fit.outputs(), fit.X.rows());
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
