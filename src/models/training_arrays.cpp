#include "models/training_arrays.hpp"

#include <fmt/format.h>

#include "covary/error.hpp"

namespace covary {
namespace {

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

}  // namespace

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

void put_adam(Container& c, const AdamState& s) {
  c.put_vector("adam.u", s.u);
  c.put_vector("adam.first", s.first);
  c.put_vector("adam.second", s.second);
  c.put_vector("adam.best_u", s.best_u);
  Vector numbers(6);
  numbers << s.factor, s.mean, s.variance, s.initial_value, s.best_mean, s.best_variance;
  c.put_vector("adam.numbers", numbers);
  const std::int64_t counts[] = {s.steps, s.since_restart, s.has_best ? 1 : 0, s.rollbacks,
                                 s.failures};
  c.put_integers("adam.counts", counts);
}

AdamState get_adam(const Container& c) {
  AdamState s;
  s.u = c.vector("adam.u");
  const Index n = s.u.size();
  s.first = c.vector("adam.first", n);
  s.second = c.vector("adam.second", n);
  s.best_u = c.vector("adam.best_u", n);
  const Vector numbers = c.vector("adam.numbers", 6);
  s.factor = numbers(0);
  s.mean = numbers(1);
  s.variance = numbers(2);
  s.initial_value = numbers(3);
  s.best_mean = numbers(4);
  s.best_variance = numbers(5);
  const auto counts = c.integers("adam.counts", 5);
  s.steps = counts[0];
  s.since_restart = counts[1];
  s.has_best = counts[2] != 0;
  s.rollbacks = counts[3];
  s.failures = counts[4];
  return s;
}

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

}  // namespace covary
