#include "covary/storage/model_file.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "covary/error.hpp"
#include "covary/storage/container.hpp"

namespace covary {
namespace {

using nlohmann::json;

json number(double v) { return std::isfinite(v) ? json(v) : json(nullptr); }
double number_or_nan(const json& j) { return j.is_null() ? std::nan("") : j.get<double>(); }

json to_json(const Parameters& parameters) {
  static const char* kinds[] = {"real", "positive", "bounded", "lower-triangular", "ordered"};
  json out = json::array();
  for (const auto& p : parameters.all()) {
    json j{{"path", p.path},
           {"value", std::vector<double>(p.value.begin(), p.value.end())},
           {"transform", kinds[static_cast<int>(p.transform.kind())]},
           {"low", p.transform.low()},
           {"high", p.transform.high()},
           {"rows", p.rows},
           {"cols", p.cols},
           {"trainable", p.trainable}};
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

Parameters parameters_from(const json& list) {
  Parameters out;
  for (const json& j : list) {
    const auto value = j.at("value").get<std::vector<double>>();
    Parameter p{j.at("path").get<std::string>(),
                Eigen::Map<const Vector>(value.data(), static_cast<Index>(value.size())),
                transform_from(j)};
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

// A small file can name many rows, and the factor takes their square. Asking for more than there is
// may end the process instead of failing, so it is not tried.
void check_size(const Container& c, Index rows, Index dims, Index outputs) {
  if (rows == 0 || dims == 0 || outputs == 0)
    throw FileError(
        fmt::format("{} holds a model of {} rows, {} inputs and {} outputs: no rows or "
                    "no columns",
                    c.source, rows, dims, outputs));
  const double n = static_cast<double>(rows), bytes = 8.0 * n * n,
               memory = static_cast<double>(::sysconf(_SC_PHYS_PAGES)) *
                        static_cast<double>(::sysconf(_SC_PAGESIZE));
  if (bytes > memory)
    throw FileError(
        fmt::format("{} holds an exact model of {} rows, whose factor takes {:.3g} GB: more than "
                    "the memory of this machine, {:.3g} GB",
                    c.source, rows, bytes / 1e9, memory / 1e9));
}

// How many rows each update added: they are the last ones, and the first rows stay.
std::vector<Index> appended_rows(const Container& c, Index rows) {
  std::vector<Index> out;
  for (const std::int64_t m : c.integers("appended")) {
    if (m < 1 || m >= rows)
      throw FileError(
          fmt::format("{}: an update cannot have added {} of {} rows", c.source, m, rows));
    rows -= m;
    out.push_back(m);
  }
  return out;
}

SavedModel from_container(const Container& c) {
  const json j = json::parse(c.metadata);
  if (j.at("model") != "exact")
    throw FileError(fmt::format("{} holds a model of kind '{}', which this build does not know",
                                c.source, j.at("model").get<std::string>()));
  ExactPosteriorParts parts;
  parts.kernel = Kernel(j.at("kernel").get<std::string>());
  parts.mean = Mean(j.at("mean").get<std::string>());
  parts.noise_variance = c.vector("noise_variance", 1)(0);
  parts.jitter = c.vector("jitter", 1)(0);
  parts.X = c.rows("X");
  const bool outputs = !c.has("alpha");
  (outputs ? parts.Y : parts.alpha) = c.rows(outputs ? "Y" : "alpha", parts.X.rows());
  const Index D = parts.X.cols(), P = (outputs ? parts.Y : parts.alpha).cols();
  check_size(c, parts.X.rows(), D, P);
  if (c.has("appended")) parts.appended = appended_rows(c, parts.X.rows());
  parts.kernel.node().check(D);
  parts.theta = c.vector("theta", parts.kernel.parameter_count(D));
  if (parts.mean.is_zero())
    parts.mean_weights = Matrix(0, P);
  else
    parts.mean_weights = c.matrix("mean_weights", parts.mean.basis_count(D), P);
  if (c.has("point_noise")) parts.point_noise = c.vector("point_noise", parts.X.rows());
  if (!parts.X.allFinite() || !parts.theta.allFinite() || !(parts.noise_variance >= 0.0) ||
      !(parts.jitter >= 0.0) || !parts.mean_weights.allFinite() || !parts.point_noise.allFinite())
    throw FileError(fmt::format("{} holds values that are not finite", c.source));

  SavedModel out{{ExactPosterior(std::move(parts)), get_scaling(c, "inputs", D),
                  get_scaling(c, "outputs", P), parameters_from(j.at("parameters")),
                  summary_from(j.at("summary")), j.at("log_marginal_likelihood"), j.at("log_prior"),
                  c.has("standard_errors") ? c.vector("standard_errors") : Vector(),
                  j.at("input_names").get<std::vector<std::string>>(),
                  j.at("output_names").get<std::vector<std::string>>()},
                 {}};
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
  const ExactPosteriorParts& parts = fit.posterior.parts();
  Container c;
  c.put_rows("X", parts.X);
  if (fit.posterior.has_outputs())
    c.put_rows("Y", parts.Y);
  else
    c.put_rows("alpha", parts.alpha);
  if (!parts.appended.empty())
    c.put_integers("appended",
                   std::vector<std::int64_t>(parts.appended.begin(), parts.appended.end()));
  c.put_vector("theta", parts.theta);
  if (!parts.mean.is_zero()) c.put_matrix("mean_weights", parts.mean_weights);
  c.put_vector("noise_variance", Vector::Constant(1, parts.noise_variance));
  c.put_vector("jitter", Vector::Constant(1, parts.jitter));
  if (parts.point_noise.size()) c.put_vector("point_noise", parts.point_noise);
  if (fit.standard_errors.size()) c.put_vector("standard_errors", fit.standard_errors);
  put_scaling(c, "inputs", fit.input_scaling);
  put_scaling(c, "outputs", fit.output_scaling);
  json columns = json::array();
  for (const auto& column : model.inputs.columns)
    columns.push_back({{"name", column.name}, {"levels", column.levels}});
  c.metadata = json{{"model", "exact"},
                    {"kernel", parts.kernel.print()},
                    {"mean", parts.mean.print()},
                    {"likelihood", "gaussian"},
                    {"log_marginal_likelihood", number(fit.log_marginal_likelihood)},
                    {"log_prior", number(fit.log_prior)},
                    {"parameters", to_json(fit.parameters)},
                    {"summary", to_json(fit.summary)},
                    {"input_columns", columns},
                    {"input_names", fit.input_names},
                    {"output_names", fit.output_names}}
                   .dump();
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
