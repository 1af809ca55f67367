#include "covary/models/model_file.hpp"

#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "covary/error.hpp"
#include "covary/storage/container.hpp"
#include "inference/posterior_arrays.hpp"
#include "models/class_density_arrays.hpp"
#include "models/fit_json.hpp"
#include "models/input_map_arrays.hpp"
#include "models/latent_arrays.hpp"
#include "models/map_gplvm_arrays.hpp"
#include "models/ppca_arrays.hpp"

namespace covary {
namespace {

using nlohmann::json;

void check_names(const Container& c, const InputColumns& inputs, Index dims) {
  if (static_cast<Index>(inputs.names().size()) != dims)
    throw FileError(fmt::format("{}: the names of its columns do not fit its arrays", c.source));
}

SavedModel regression_from(const Container& c, const json& j) {
  Posterior posterior = get_posterior(c, j);
  if (j.at("model") != posterior.name() || !posterior.can(Capability::outputs))
    throw FileError(fmt::format("{} does not hold the posterior of its model", c.source));
  const Index D = posterior.dims(), P = posterior.functions();
  SavedModel out{{std::move(posterior), get_scaling(c, "inputs", D), get_scaling(c, "outputs", P),
                  parameters_from(j.at("parameters"), c), summary_from(j.at("summary")),
                  j.at("log_marginal_likelihood"), j.at("log_prior"),
                  c.has("standard_errors") ? c.vector("standard_errors") : Vector(),
                  j.at("input_names").get<std::vector<std::string>>(),
                  j.at("output_names").get<std::vector<std::string>>()},
                 {}};
  out.fit.diagnostics = diagnostics_from(j.value("diagnostics", json::array()));
  out.inputs = columns_from(j.at("input_columns"));
  check_names(c, out.inputs, D);
  if (static_cast<Index>(out.fit.output_names.size()) != P)
    throw FileError(fmt::format("{}: the names of its columns do not fit its arrays", c.source));
  return out;
}

Container container_of(const SavedModel& model) {
  const RegressionFit& fit = model.fit;
  Container c;
  json j;
  put_posterior(fit.posterior, c, j);
  if (fit.standard_errors.size()) c.put_vector("standard_errors", fit.standard_errors);
  put_scaling(c, "inputs", fit.input_scaling);
  put_scaling(c, "outputs", fit.output_scaling);
  j.update({{"kind", "regression"},
            {"model", fit.posterior.name()},
            {"likelihood", "gaussian"},
            {"log_marginal_likelihood", number(fit.log_marginal_likelihood)},
            {"log_prior", number(fit.log_prior)},
            {"parameters", to_json(fit.parameters, c)},
            {"summary", to_json(fit.summary)},
            {"input_columns", to_json(model.inputs)},
            {"input_names", fit.input_names},
            {"output_names", fit.output_names}});
  if (!fit.diagnostics.empty()) j["diagnostics"] = to_json(fit.diagnostics);
  c.metadata = j.dump();
  return c;
}

SavedGeneralised generalised_from(const Container& c, const json& j) {
  Posterior posterior = get_posterior(c, j);
  InputMap map = get_input_map(c, j, posterior.dims());
  const Index D = map ? map.inputs() : posterior.dims();
  Likelihood likelihood(j.at("likelihood").get<std::string>());
  if (likelihood.latents() != posterior.functions())
    throw FileError(fmt::format("{} has {} latent functions, its likelihood needs {}", c.source,
                                posterior.functions(), likelihood.latents()));
  SavedGeneralised out{
      {j.at("model").get<std::string>(), std::move(posterior), likelihood,
       c.vector("likelihood_parameters", likelihood.parameter_count()), get_scaling(c, "inputs", D),
       get_scaling(c, "outputs", 1), parameters_from(j.at("parameters"), c),
       summary_from(j.at("summary")), number_or_nan(j.at("value")),
       number_or_nan(j.at("log_prior")), j.at("classes").get<std::vector<std::string>>(),
       j.at("input_names").get<std::vector<std::string>>(), j.at("output_name").get<std::string>(),
       j.at("rows").get<Index>(), diagnostics_from(j.at("diagnostics")), std::move(map)},
      columns_from(j.at("input_columns"))};
  check_names(c, out.inputs, D);
  const auto classes = static_cast<Index>(out.fit.classes.size());
  if (classes != 0 && classes != likelihood.classes())
    throw FileError(fmt::format("{} names {} classes, its likelihood has {}", c.source, classes,
                                likelihood.classes()));
  const Vector& theta = out.fit.likelihood_parameters;
  if (!theta.allFinite())
    throw FileError(fmt::format("{} holds values that are not finite", c.source));
  return out;
}

Container container_of(const SavedGeneralised& model) {
  const GeneralisedFit& fit = model.fit;
  try {
    if (!(Likelihood(fit.likelihood.print()) == fit.likelihood)) throw InputError("");
  } catch (const Error&) {
    throw InputError(
        fmt::format("a file cannot keep the likelihood '{}', which no expression makes; predict "
                    "where it was defined",
                    fit.likelihood.print()));
  }
  Container c;
  json j;
  put_posterior(fit.posterior, c, j);
  c.put_vector("likelihood_parameters", fit.likelihood_parameters);
  put_scaling(c, "inputs", fit.input_scaling);
  put_scaling(c, "outputs", fit.output_scaling);
  j.update({{"kind", "generalised"},
            {"model", fit.model},
            {"likelihood", fit.likelihood.print()},
            {"value", number(fit.value)},
            {"log_prior", number(fit.log_prior)},
            {"parameters", to_json(fit.parameters, c)},
            {"summary", to_json(fit.summary)},
            {"classes", fit.classes},
            {"input_columns", to_json(model.inputs)},
            {"input_names", fit.input_names},
            {"output_name", fit.output_name},
            {"rows", fit.rows},
            {"diagnostics", to_json(fit.diagnostics)}});
  put_input_map(fit.input_map, c, j);
  c.metadata = j.dump();
  return c;
}

Container container_of(const SavedLatent& model) { return latent_container(model.fit); }
Container container_of(const SavedPpca& model) { return ppca_container(model.fit); }
Container container_of(const SavedMapGplvm& model) { return map_gplvm_container(model.fit); }

Container container_of(const SavedClassDensity& model) {
  Container c;
  json j = put_class_density(model.fit, c);
  j["input_columns"] = to_json(model.inputs);
  c.metadata = j.dump();
  return c;
}

SavedClassDensity class_density_from(const Container& c, const json& j) {
  SavedClassDensity out{get_class_density(c, j), columns_from(j.at("input_columns"))};
  check_names(c, out.inputs, out.fit.inputs());
  return out;
}

Container to_container(const AnyModel& model) {
  return std::visit([](const auto& m) { return container_of(m); }, model);
}

struct Kind {
  std::string_view name;
  AnyModel (*restore)(const Container& c, const json& j);
};
constexpr Kind kinds[] = {
    {"regression",
     [](const Container& c, const json& j) -> AnyModel { return regression_from(c, j); }},
    {"generalised",
     [](const Container& c, const json& j) -> AnyModel { return generalised_from(c, j); }},
    {"gplvm",
     [](const Container& c, const json& j) -> AnyModel { return SavedLatent{latent_from(c, j)}; }},
    {"ppca",
     [](const Container& c, const json& j) -> AnyModel { return SavedPpca{ppca_from(c, j)}; }},
    {"map_gplvm",
     [](const Container& c, const json& j) -> AnyModel {
       return SavedMapGplvm{map_gplvm_from(c, j)};
     }},
    {"class_density",
     [](const Container& c, const json& j) -> AnyModel { return class_density_from(c, j); }}};

// The first files did not say it: what they hold does.
std::string kind_in(const json& j) {
  if (j.contains("kind")) return j.at("kind").get<std::string>();
  if (j.contains("functions")) return "generalised";
  if (j.at("model") == "map_gplvm") return "map_gplvm";
  if (j.contains("views")) return "gplvm";
  if (j.contains("class_densities")) return "class_density";
  return j.contains("pca") ? "ppca" : "regression";
}

AnyModel from_container(const Container& c) {
  const json j = json::parse(c.metadata);
  const std::string kind = kind_in(j);
  for (const Kind& k : kinds)
    if (k.name == kind) return k.restore(c, j);
  throw FileError(
      fmt::format("{} holds a model of kind '{}', which this build does not know", c.source, kind));
}

// Whatever is wrong with a container that was read is the fault of its source.
AnyModel checked_from_container(const Container& c) {
  try {
    return from_container(c);
  } catch (const FileError&) {
    throw;
  } catch (const Error& e) {
    throw FileError(fmt::format("{} is no usable model: {}", c.source, e.what()));
  } catch (const json::exception& e) {
    throw FileError(fmt::format("{} is no usable model: {}", c.source, e.what()));
  }
}

}  // namespace

SavedModel regression_in(AnyModel model, const std::string& source) {
  if (auto* m = std::get_if<SavedModel>(&model)) return std::move(*m);
  if (!std::holds_alternative<SavedGeneralised>(model))
    throw Unsupported(fmt::format(
        "{} holds a {}; this works with Gaussian regression alone", source,
        std::holds_alternative<SavedClassDensity>(model) ? "classifier by class densities"
                                                         : "latent-variable model"));
  const GeneralisedFit& fit = std::get<SavedGeneralised>(model).fit;
  throw Unsupported(
      fmt::format("{} holds a {} model of likelihood {}; this works with Gaussian regression alone",
                  source, fit.model, fit.likelihood.print()));
}

void save_model(const std::string& path, const AnyModel& model) {
  write_container(path, to_container(model));
}

AnyModel load_any_model(const std::string& path) {
  return checked_from_container(read_container(path));
}

SavedModel load_model(const std::string& path) { return regression_in(load_any_model(path), path); }

std::vector<std::byte> save_model_bytes(const AnyModel& model) {
  return serialise_container(to_container(model));
}

AnyModel load_any_model_bytes(std::span<const std::byte> bytes) {
  return checked_from_container(parse_container(bytes));
}

SavedModel load_model_bytes(std::span<const std::byte> bytes) {
  return regression_in(load_any_model_bytes(bytes), "the model");
}

}  // namespace covary
