#include "storage/training_arrays.hpp"

#include <fmt/format.h>

#include "covary/error.hpp"

namespace covary {
namespace {

using nlohmann::json;

RowMatrix stacked(const std::vector<Vector>& list, Index cols) {
  RowMatrix out(static_cast<Index>(list.size()), cols);
  for (std::size_t i = 0; i < list.size(); ++i) out.row(static_cast<Index>(i)) = list[i];
  return out;
}

std::vector<Vector> unstacked(const RowMatrix& rows) {
  std::vector<Vector> out;
  for (Index i = 0; i < rows.rows(); ++i) out.emplace_back(rows.row(i));
  return out;
}

void put_run(Container& c, const std::string& name, const LbfgsState& s) {
  c.put_vector(name + ".u", s.u);
  c.put_vector(name + ".gradient", s.gradient);
  c.put_rows(name + ".s", stacked(s.s, s.u.size()));
  c.put_rows(name + ".y", stacked(s.y, s.u.size()));
  c.put_vector(
      name + ".recent_values",
      Eigen::Map<const Vector>(s.recent_values.data(), static_cast<Index>(s.recent_values.size())));
  c.put_vector(name + ".numbers", Eigen::Vector3d(s.value, s.initial_value, s.seconds));
  const std::int64_t counts[] = {s.iterations, s.evaluations, s.rejected_evaluations};
  c.put_integers(name + ".counts", counts);
}

LbfgsState get_run(const Container& c, const std::string& name) {
  LbfgsState s;
  s.u = c.vector(name + ".u");
  const Index n = s.u.size();
  s.gradient = c.vector(name + ".gradient", n);
  s.s = unstacked(c.rows(name + ".s", -1, n));
  s.y = unstacked(c.rows(name + ".y", static_cast<Index>(s.s.size()), n));
  const Vector recent = c.vector(name + ".recent_values");
  s.recent_values.assign(recent.begin(), recent.end());
  const Vector numbers = c.vector(name + ".numbers", 3);
  s.value = numbers(0);
  s.initial_value = numbers(1);
  s.seconds = numbers(2);
  const auto counts = c.integers(name + ".counts", 3);
  s.iterations = counts[0];
  s.evaluations = counts[1];
  s.rejected_evaluations = counts[2];
  return s;
}

}  // namespace

void put_jitter(Container& c, const Jitter& jitter) {
  c.put_vector("jitter", Eigen::Vector3d(jitter.asked, jitter.rung, jitter.added));
}

Jitter get_jitter(const Container& c) {
  const Vector jitter = c.vector("jitter", 3);
  return {jitter(0), jitter(1), jitter(2), false};
}

void put_trace(Container& c, const std::string& name, const std::vector<Summary::Point>& trace) {
  RowMatrix rows(static_cast<Index>(trace.size()), 4);
  for (std::size_t i = 0; i < trace.size(); ++i)
    rows.row(static_cast<Index>(i)) << static_cast<double>(trace[i].iteration), trace[i].value,
        trace[i].gradient_norm, trace[i].seconds;
  c.put_rows(name, rows);
}

std::vector<Summary::Point> get_trace(const Container& c, const std::string& name) {
  const RowMatrix rows = c.rows(name, -1, 4);
  std::vector<Summary::Point> out;
  for (Index i = 0; i < rows.rows(); ++i)
    out.push_back({static_cast<Index>(rows(i, 0)), rows(i, 1), rows(i, 2), rows(i, 3)});
  return out;
}

void put_restarts(Container& c, json& j, const RestartsState& r) {
  if (!r.run) throw InputError("a checkpoint is made after an iteration; there was none yet");
  put_run(c, "run", *r.run);
  put_trace(c, "run.trace", r.trace);
  j["start"] = r.start;
  j["best_start"] = r.best_start;
  j["rejected_evaluations"] = r.rejected_evaluations;
  j["seconds"] = r.seconds;
  j["evaluations"] = r.evaluations;
  j["starts"] = json::array();
  for (const Summary::Start& s : r.table)
    j["starts"].push_back({{"index", s.index},
                           {"value", s.value ? json(*s.value) : json(nullptr)},
                           {"iterations", s.iterations},
                           {"converged", s.converged},
                           {"reason", s.reason}});
  if (r.best) {
    put_run(c, "best", r.best->state);
    put_trace(c, "best.trace", r.best->summary.trace);
    j["best"] = {{"converged", r.best->summary.converged},
                 {"reason", r.best->summary.reason},
                 {"gradient_norm", r.best->summary.gradient_norm}};
  }
}

RestartsState get_restarts(const Container& c, const json& j) {
  RestartsState r;
  r.start = j.at("start");
  r.run = get_run(c, "run");
  r.trace = get_trace(c, "run.trace");
  r.best_start = j.at("best_start");
  r.rejected_evaluations = j.at("rejected_evaluations");
  r.seconds = j.at("seconds");
  r.evaluations = j.at("evaluations");
  for (const json& row : j.at("starts"))
    r.table.push_back({row.at("index"),
                       row.at("value").is_null()
                           ? std::nullopt
                           : std::optional<double>(row.at("value").get<double>()),
                       row.at("iterations"), row.at("converged"), row.at("reason")});
  if (j.contains("best")) {
    Minimum best{get_run(c, "best"), {}};
    best.summary.value = best.state.value;
    best.summary.initial_value = best.state.initial_value;
    best.summary.iterations = best.state.iterations;
    best.summary.converged = j.at("best").at("converged");
    best.summary.reason = j.at("best").at("reason");
    best.summary.gradient_norm = j.at("best").at("gradient_norm");
    best.summary.trace = get_trace(c, "best.trace");
    r.best = std::move(best);
  }
  return r;
}

json checkpoint_json(const Container& c, const std::string& kind, const std::string& problem) {
  json j = json::parse(c.metadata);
  const std::string model = j.at("model");
  if (model != kind)
    throw model.ends_with("checkpoint")
        ? FileError(fmt::format("{} is the checkpoint of another kind of model", c.source))
        : FileError(fmt::format("{} is no checkpoint; start from a model with --from", c.source));
  if (j.at("problem") != problem)
    throw InputError(fmt::format(
        "{} is the checkpoint of another fit: the data, the kernel or an option that training "
        "depends on differ; give the same ones, or leave --resume out",
        c.source));
  return j;
}

}  // namespace covary
