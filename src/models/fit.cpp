#include "covary/models/fit.hpp"

#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "covary/error.hpp"
#include "covary/models/compress.hpp"
#include "covary/models/table.hpp"
#include "models/fit_json.hpp"
#include "storage/archive.hpp"

namespace covary {

using nlohmann::json;

namespace {

// The first files did not say of which kind they are: what they hold does.
std::string kind_in(const json& j) {
  if (j.contains("kind")) return j.at("kind").get<std::string>();
  if (j.contains("functions")) return "generalised";
  if (j.at("model") == "map_gplvm") return "map_gplvm";
  if (j.contains("views")) return "gplvm";
  if (j.contains("class_densities")) return "class_density";
  return j.contains("pca") ? "ppca" : "regression";
}

Fit restored(Container& c) {
  json j = json::parse(c.metadata);
  const std::string kind = kind_in(j);
  for (const ModelEntry& entry : model_table())
    if (entry.kind == kind) return entry.restore({c, j});
  throw FileError(
      fmt::format("{} holds a model of kind '{}', which this build does not know", c.source, kind));
}

// Whatever is wrong with a container that was read is the fault of its source.
Fit from_container(Container c) {
  try {
    return restored(c);
  } catch (const FileError&) {
    throw;
  } catch (const Error& e) {
    throw FileError(fmt::format("{} is not a usable model: {}", c.source, e.what()));
  } catch (const json::exception& e) {
    throw FileError(fmt::format("{} is not a usable model: {}", c.source, e.what()));
  }
}

// Hundreds of inducing inputs and q(x) of every row are for the JSON.
Parameters for_people(const Parameters& all) {
  Parameters out;
  for (const Parameter& p : all.all())
    if (!p.path.ends_with("features.Z") && !p.path.starts_with("latent.")) out.add(p);
  return out;
}

json values_of(const Parameter& p, const Vector& values) {
  return p.value.size() == 1 ? number(values(0)) : numbers(values);
}

void describe_parameters(const FitRecord& fit, json& out) {
  json values = json::object(), errors = json::object(), table = json::array();
  Index free = 0;
  for (const auto& p : fit.parameters.all()) {
    values[p.path] = values_of(p, p.value);
    table.push_back({{"name", p.path},
                     {"transform", p.transform.describe()},
                     {"prior", p.prior ? json(p.prior->describe()) : json(nullptr)},
                     {"trainable", p.trainable},
                     {"tie", p.tied_to.empty() ? json(nullptr)
                                               : json(fmt::format("{}*{}", p.ratio, p.tied_to))},
                     {"shape", {p.rows, p.cols}}});
    if (p.trainable && p.tied_to.empty()) {
      if (fit.standard_errors.size())
        errors[p.path] = values_of(p, fit.standard_errors.segment(free, p.value.size()));
      free += p.value.size();
    }
  }
  out.update({{"parameters", values}, {"parameter_table", table}, {"standard_errors", errors}});
}

json describe_record(const FitRecord& fit) {
  const Summary& s = fit.summary;
  json out{{"model", fit.model},
           {"objective", s.objective},
           {"value", number(fit.value)},
           {"upper_bound", s.upper_bound ? number(*s.upper_bound) : json(nullptr)},
           {"log_prior", number(fit.log_prior)},
           {"outputs", fit.output_names},
           {"iterations", s.iterations},
           {"evaluations", s.evaluations},
           {"converged", s.converged},
           {"stop", print(s.stop)},
           {"reason", s.reason},
           {"gradient_norm", number(s.gradient_norm)},
           {"seconds", number(s.seconds)},
           {"jitter", number(s.jitter)},
           {"route", s.route},
           {"warnings", s.warnings}};
  describe_parameters(fit, out);
  if (!fit.input_columns.columns.empty()) out["inputs"] = fit.input_names();
  for (const auto& start : s.starts)
    out["starts"].push_back({{"index", start.index},
                             {"value", start.value ? number(*start.value) : json(nullptr)},
                             {"iterations", start.iterations},
                             {"reason", start.reason}});
  if (!fit.diagnostics.empty()) {
    json& d = out["diagnostics"] = json::object();
    for (const auto& [name, value] : fit.diagnostics) d[name] = number(value);
  }
  return out;
}

}  // namespace

RowMatrix NamedColumns::joined() const {
  RowMatrix out(values.empty() ? 0 : values.front().size(), static_cast<Index>(values.size()));
  for (std::size_t j = 0; j < values.size(); ++j) out.col(static_cast<Index>(j)) = values[j];
  return out;
}

void FitNode::refuse(const std::string& what) const {
  throw Unsupported(fmt::format("a fit of {} {}", model, what));
}

Fit FitNode::stripped() const { refuse("stores no training outputs"); }
Answer FitNode::evaluate(const Table&, const TableQuestion&) const { refuse("has no scores"); }
NamedColumns FitNode::sample(const Table&, const TableQuestion&) const {
  refuse("has no function to draw; use covary predict");
}
Fit FitNode::update(const Table&, const TableQuestion&) const {
  refuse("takes no further rows; fit it again with all rows");
}
FitNode::Smaller FitNode::compressed(const CompressOptions&) const {
  refuse("cannot be compressed");
}
HeldOut FitNode::held_out(const ModelData&) const { refuse("cannot be scored on held-out rows"); }

double FitNode::laplace_log_evidence() const { return std::nan(""); }

Answer FitNode::describe() const {
  const Answer own = details();
  json object = describe_record(*this);
  object.update(json::parse(own.json));
  const std::size_t line = own.text.find('\n');
  std::string text = own.text.substr(0, line) + "\n" + summary.brief() + "\n";
  if (!parameters.all().empty())
    text +=
        "\n" + for_people(parameters).table(standard_errors.size() ? &standard_errors : nullptr);
  text += "\n";
  if (line != std::string::npos) text += own.text.substr(line + 1);
  for (const auto& [name, number] : diagnostics)
    text += fmt::format("{:<20} {:.6g}\n", name, number);
  return {object.dump(), std::move(text)};
}

Container container_of(const FitNode& fit) {
  Container c;
  json j{{"kind", fit.kind()}};
  put_record(fit, c, j);
  Archive to{c, j};
  fit.store(to);
  c.metadata = j.dump();
  return c;
}

void FitNode::save(const std::string& path) const { write_container(path, container_of(*this)); }
std::vector<std::byte> FitNode::bytes() const { return serialise_container(container_of(*this)); }

void Fit::wrong_model() const {
  const std::string what = node_->details().text;
  throw Unsupported(
      fmt::format("this works with another model; here is a {}", what.substr(0, what.find('\n'))));
}

Fit load(const std::string& path) { return from_container(read_container(path)); }
Fit load_bytes(std::span<const std::byte> bytes, const std::string& source) {
  return from_container(parse_container(bytes, source));
}

}  // namespace covary
