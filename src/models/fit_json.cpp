#include "models/fit_json.hpp"

#include <fmt/format.h>

#include "covary/error.hpp"

namespace covary {

using nlohmann::json;

namespace {

constexpr Index most_in_json = 64;

std::string array_name(const std::string& path) { return "parameters." + path; }

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

std::string today(const std::string& path) {
  const bool of_function =
      path.starts_with("latent.") && path.size() > 7 && path[7] >= '0' && path[7] <= '9';
  return of_function ? "function." + path.substr(7) : path;
}

}  // namespace

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

Parameters parameters_from(const json& list, const Container& c) {
  Parameters out;
  for (const json& j : list) {
    Parameter p{j.at("path").get<std::string>(), value_from(j, c), transform_from(j)};
    // Before functions had a name of their own they were latent.0, latent.1, …
    p.path = today(p.path);
    p.rows = j.at("rows");
    p.cols = j.at("cols");
    p.trainable = j.at("trainable");
    if (j.contains("prior")) p.prior = Prior::parse(j.at("prior"));
    out.add(std::move(p));
  }
  for (const json& j : list)
    if (j.contains("tied_to")) out.tie(today(j.at("path")), today(j.at("tied_to")), j.at("ratio"));
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
           {"stop", print(s.stop)},
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
  // Files of older versions have no "stop".
  s.stop = j.contains("stop") ? parse_stop(j.at("stop"))
           : s.converged      ? Stop::converged
                              : Stop::stuck;
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
      throw FileError(fmt::format("{} scaling of column {} must be finite and positive", name, i));
  return s;
}

void put_pca(Container& c, const Pca& pca) {
  c.put_vector("pca.mean", pca.mean);
  c.put_matrix("pca.components", pca.components);
  c.put_vector("pca.variances", pca.variances);
  c.put_vector("pca.total_variance", Vector::Constant(1, pca.total_variance));
}

Pca get_pca(const Container& c, Index components) {
  Pca out{c.vector("pca.mean"),
          {},
          c.vector("pca.variances", components),
          c.vector("pca.total_variance", 1)(0)};
  out.components = c.matrix("pca.components", out.inputs(), components);
  const bool sound = out.mean.allFinite() && out.components.allFinite() &&
                     out.variances.allFinite() && std::isfinite(out.total_variance) &&
                     out.variances.minCoeff() > 0.0 && out.total_variance > 0.0;
  if (!sound)
    throw FileError(fmt::format(
        "{}: its principal components must be finite, with positive variances", c.source));
  return out;
}

json to_json(const Diagnostics& diagnostics) {
  json out = json::array();
  for (const auto& [name, value] : diagnostics) out.push_back({name, number(value)});
  return out;
}

Diagnostics diagnostics_from(const json& j) {
  Diagnostics out;
  for (const json& d : j) out.emplace_back(d.at(0), number_or_nan(d.at(1)));
  return out;
}

json to_json(const InputColumns& inputs) {
  json out = json::array();
  for (const auto& column : inputs.columns) {
    out.push_back({{"name", column.name}, {"levels", column.levels}});
    if (column.period > 0.0) out.back()["period"] = column.period;
  }
  return out;
}

InputColumns columns_from(const json& j) {
  InputColumns out;
  for (const json& column : j)
    out.columns.push_back({column.at("name"), column.at("levels").get<std::vector<std::string>>(),
                           column.value("period", 0.0)});
  return out;
}

json scaling_json(const Scaling& s) {
  return {{"shift", numbers(s.shift)}, {"scale", numbers(s.scale)}};
}

void put_record(const FitRecord& fit, Container& c, json& j) {
  if (fit.standard_errors.size()) c.put_vector("standard_errors", fit.standard_errors);
  j.update({{"model", fit.model},
            {"value", number(fit.value)},
            {"log_prior", number(fit.log_prior)},
            {"parameters", to_json(fit.parameters, c)},
            {"summary", to_json(fit.summary)},
            {"input_columns", to_json(fit.input_columns)},
            {"output_names", fit.output_names},
            {"diagnostics", to_json(fit.diagnostics)}});
  if (!fit.form.empty()) j["form"] = fit.form;
  for (const auto& [column, format] : fit.formats) j["formats"][column] = print(format);
}

void get_record(FitRecord& fit, const Container& c, const json& j) {
  fit.model = j.at("model").get<std::string>();
  fit.form = j.value("form", std::string());
  // Files written before every kind had a record.
  const bool bare = !j.contains("value") && (j.contains("pca") || j.contains("class_densities"));
  if (!bare) {
    fit.parameters = parameters_from(j.at("parameters"), c);
    fit.summary = summary_from(j.at("summary"));
  }
  for (const char* name : {"value", "log_marginal_likelihood", "elbo", "log_likelihood"})
    if (j.contains(name)) {
      fit.value = number_or_nan(j.at(name));
      break;
    }
  if (j.contains("log_prior")) fit.log_prior = number_or_nan(j.at("log_prior"));
  if (c.has("standard_errors")) fit.standard_errors = c.vector("standard_errors");
  fit.input_columns = columns_from(j.value("input_columns", json::array()));
  if (j.contains("output_name"))
    fit.output_names = {j.at("output_name").get<std::string>()};
  else
    fit.output_names = j.at("output_names").get<std::vector<std::string>>();
  fit.diagnostics = diagnostics_from(j.value("diagnostics", json::array()));
  if (j.contains("formats"))
    for (const auto& [column, format] : j.at("formats").items())
      fit.formats[column] = parse_cell_format(format.get<std::string>());
}

void check_names(FitRecord& fit, const Container& c, Index inputs, Index outputs) {
  // A fit of arrays has none: as in a table without a header.
  if (fit.input_columns.columns.empty() && fit.output_names.empty()) {
    std::vector<std::string> names;
    for (Index d = 0; d < inputs; ++d) names.push_back(fmt::format("c{}", d));
    fit.input_columns = InputColumns::named(names);
    for (Index p = 0; p < outputs; ++p)
      fit.output_names.push_back(outputs == 1 ? "y" : fmt::format("c{}", inputs + p));
  }
  if (static_cast<Index>(fit.input_names().size()) != inputs ||
      static_cast<Index>(fit.output_names.size()) != outputs)
    throw FileError(fmt::format("{}: the names of its columns do not fit its arrays", c.source));
}

}  // namespace covary
