#include "covary/storage/model_file.hpp"

#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "covary/error.hpp"
#include "covary/storage/container.hpp"
#include "storage/posterior_arrays.hpp"

namespace covary {
namespace {

using nlohmann::json;

json number(double v) { return std::isfinite(v) ? json(v) : json(nullptr); }
double number_or_nan(const json& j) { return j.is_null() ? std::nan("") : j.get<double>(); }

// Parameters of many entries, such as inducing inputs, are arrays of the container.
constexpr Index most_in_json = 64;

std::string array_name(const std::string& path) { return "parameters." + path; }

json to_json(const Parameters& parameters, Container& c) {
  static const char* kinds[] = {"real", "positive", "bounded", "lower-triangular", "ordered"};
  json out = json::array();
  for (const auto& p : parameters.all()) {
    json j{{"path", p.path},           {"transform", kinds[static_cast<int>(p.transform.kind())]},
           {"low", p.transform.low()}, {"high", p.transform.high()},
           {"rows", p.rows},           {"cols", p.cols},
           {"trainable", p.trainable}};
    if (p.value.size() <= most_in_json)
      j["value"] = std::vector<double>(p.value.begin(), p.value.end());
    else
      c.put_vector(array_name(p.path), p.value);
    if (p.prior) j["prior"] = p.prior->describe();
    if (!p.tied_to.empty()) j["tied_to"] = p.tied_to, j["ratio"] = p.ratio;
    out.push_back(std::move(j));
  }
  return out;
}

Transform transform_from(const json& j) {
  const auto kind = j.at("transform").get<std::string>();
  const double low = j.at("low"), high = j.at("high");
  if (kind == "real") return Transform::real();
  if (kind == "positive") return Transform::positive(high, low);
  if (kind == "bounded") return Transform::bounded(low, high);
  if (kind == "lower-triangular") return Transform::lower_triangular();
  if (kind == "ordered") return Transform::ordered();
  throw FileError(fmt::format("unknown transform '{}'", kind));
}

Vector value_from(const json& j, const Container& c) {
  if (!j.contains("value")) return c.vector(array_name(j.at("path").get<std::string>()));
  const auto value = j.at("value").get<std::vector<double>>();
  return Eigen::Map<const Vector>(value.data(), static_cast<Index>(value.size()));
}

Parameters parameters_from(const json& list, const Container& c) {
  Parameters out;
  for (const json& j : list) {
    Parameter p{j.at("path").get<std::string>(), value_from(j, c), transform_from(j)};
    p.rows = j.at("rows");
    p.cols = j.at("cols");
    p.trainable = j.at("trainable");
    if (j.contains("prior")) p.prior = Prior::parse(j.at("prior"));
    out.add(std::move(p));
  }
  for (const json& j : list)
    if (j.contains("tied_to")) out.tie(j.at("path"), j.at("tied_to"), j.at("ratio"));
  return out;
}

json to_json(const Summary& s) {
  json out{{"objective", s.objective},
           {"value", number(s.value)},
           {"initial_value", number(s.initial_value)},
           {"iterations", s.iterations},
           {"evaluations", s.evaluations},
           {"rejected_evaluations", s.rejected_evaluations},
           {"converged", s.converged},
           {"reason", s.reason},
           {"gradient_norm", number(s.gradient_norm)},
           {"seconds", number(s.seconds)},
           {"jitter", number(s.jitter)},
           {"route", s.route},
           {"warnings", s.warnings},
           {"best_start", s.best_start}};
  if (s.upper_bound) out["upper_bound"] = number(*s.upper_bound);
  for (const auto& start : s.starts)
    out["starts"].push_back({{"index", start.index},
                             {"value", start.value ? number(*start.value) : json(nullptr)},
                             {"iterations", start.iterations},
                             {"converged", start.converged},
                             {"reason", start.reason}});
  for (const auto& p : s.trace)
    out["trace"].push_back(
        {p.iteration, number(p.value), number(p.gradient_norm), number(p.seconds)});
  return out;
}

Summary summary_from(const json& j) {
  Summary s;
  s.objective = j.at("objective");
  s.value = number_or_nan(j.at("value"));
  s.initial_value = number_or_nan(j.at("initial_value"));
  s.iterations = j.at("iterations");
  s.evaluations = j.at("evaluations");
  s.rejected_evaluations = j.at("rejected_evaluations");
  s.converged = j.at("converged");
  s.reason = j.at("reason");
  s.gradient_norm = number_or_nan(j.at("gradient_norm"));
  s.seconds = number_or_nan(j.at("seconds"));
  s.jitter = number_or_nan(j.at("jitter"));
  s.route = j.at("route");
  s.warnings = j.at("warnings").get<std::vector<std::string>>();
  s.best_start = j.at("best_start");
  if (j.contains("upper_bound")) s.upper_bound = number_or_nan(j.at("upper_bound"));
  for (const json& row : j.value("starts", json::array()))
    s.starts.push_back({row.at("index"),
                        row.at("value").is_null()
                            ? std::nullopt
                            : std::optional<double>(row.at("value").get<double>()),
                        row.at("iterations"), row.at("converged"), row.at("reason")});
  for (const json& row : j.value("trace", json::array()))
    s.trace.push_back(
        {row.at(0), number_or_nan(row.at(1)), number_or_nan(row.at(2)), number_or_nan(row.at(3))});
  return s;
}

void put_scaling(Container& c, const std::string& name, const Scaling& s) {
  c.put_vector(name + ".shift", s.shift);
  c.put_vector(name + ".scale", s.scale);
}

Scaling get_scaling(const Container& c, const std::string& name, Index size) {
  Scaling s{c.vector(name + ".shift", size), c.vector(name + ".scale", size)};
  for (Index i = 0; i < size; ++i)
    if (!std::isfinite(s.shift(i)) || !(s.scale(i) > 0.0) || !std::isfinite(s.scale(i)))
      throw FileError(fmt::format("{} scaling of column {} is no finite positive scale", name, i));
  return s;
}

SavedModel from_container(const Container& c) {
  const json j = json::parse(c.metadata);
  RegressionPosterior posterior = get_posterior(c, j);
  const Index D = posterior.dims(), P = posterior.outputs();
  SavedModel out{{std::move(posterior), get_scaling(c, "inputs", D), get_scaling(c, "outputs", P),
                  parameters_from(j.at("parameters"), c), summary_from(j.at("summary")),
                  j.at("log_marginal_likelihood"), j.at("log_prior"),
                  c.has("standard_errors") ? c.vector("standard_errors") : Vector(),
                  j.at("input_names").get<std::vector<std::string>>(),
                  j.at("output_names").get<std::vector<std::string>>()},
                 {}};
  for (const json& d : j.value("diagnostics", json::array()))
    out.fit.diagnostics.emplace_back(d.at(0), number_or_nan(d.at(1)));
  for (const json& column : j.at("input_columns"))
    out.inputs.columns.push_back(
        {column.at("name"), column.at("levels").get<std::vector<std::string>>()});
  if (static_cast<Index>(out.inputs.names().size()) != D ||
      static_cast<Index>(out.fit.output_names.size()) != P)
    throw FileError(fmt::format("{}: the names of its columns do not fit its arrays", c.source));
  return out;
}

Container to_container(const SavedModel& model) {
  const RegressionFit& fit = model.fit;
  Container c;
  json j;
  put_posterior(fit.posterior, c, j);
  if (fit.standard_errors.size()) c.put_vector("standard_errors", fit.standard_errors);
  put_scaling(c, "inputs", fit.input_scaling);
  put_scaling(c, "outputs", fit.output_scaling);
  json columns = json::array();
  for (const auto& column : model.inputs.columns)
    columns.push_back({{"name", column.name}, {"levels", column.levels}});
  json diagnostics = json::array();
  for (const auto& [name, value] : fit.diagnostics) diagnostics.push_back({name, number(value)});
  j.update({{"likelihood", "gaussian"},
            {"log_marginal_likelihood", number(fit.log_marginal_likelihood)},
            {"log_prior", number(fit.log_prior)},
            {"parameters", to_json(fit.parameters, c)},
            {"summary", to_json(fit.summary)},
            {"input_columns", columns},
            {"input_names", fit.input_names},
            {"output_names", fit.output_names}});
  if (!fit.diagnostics.empty()) j["diagnostics"] = diagnostics;
  c.metadata = j.dump();
  return c;
}

// Whatever is wrong with a container that was read is the fault of its source.
SavedModel checked_from_container(const Container& c) {
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

void save_model(const std::string& path, const SavedModel& model) {
  write_container(path, to_container(model));
}

SavedModel load_model(const std::string& path) {
  return checked_from_container(read_container(path));
}

std::vector<std::byte> save_model_bytes(const SavedModel& model) {
  return serialise_container(to_container(model));
}

SavedModel load_model_bytes(std::span<const std::byte> bytes) {
  return checked_from_container(parse_container(bytes));
}

}  // namespace covary
