#include "covary/storage/checkpoint.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "covary/error.hpp"
#include "storage/fit_json.hpp"
#include "storage/training_arrays.hpp"

namespace covary {
namespace {

using nlohmann::json;

constexpr const char* of_regression = "checkpoint";
constexpr const char* of_svgp = "svgp checkpoint";
constexpr const char* of_gplvm = "gplvm checkpoint";

// q by its precisions: its factors come from them with the same bits.
void put_q(Container& c, const std::string& name, const NaturalGaussian& q) {
  c.put_matrix(name + ".m", q.q().m);
  for (std::size_t f = 0; f < q.precision().size(); ++f)
    c.put_matrix(fmt::format("{}.precision.{}", name, f), q.precision()[f]);
}

NaturalGaussian get_q(const Container& c, const std::string& name, const CovarianceForm& form) {
  const Matrix m = c.matrix(name + ".m");
  std::vector<Matrix> precision;
  for (Index f = 0; f < m.cols(); ++f) {
    precision.push_back(c.matrix(fmt::format("{}.precision.{}", name, f)));
    const Index cols = precision.back().cols();
    if (precision.back().rows() != m.rows() || cols != precision.front().cols() ||
        (cols != m.rows() && (cols != 1 || form.kind != CovarianceForm::Kind::diagonal)))
      throw FileError(
          fmt::format("{} is no usable checkpoint: a precision of {} is {}×{} for {} "
                      "inducing variables",
                      c.source, name, precision.back().rows(), cols, m.rows()));
  }
  NaturalGaussian q(m.rows(), m.cols(), form);
  if (!q.set(m, std::move(precision)))
    throw FileError(
        fmt::format("{} is no usable checkpoint: a precision of {} is not positive "
                    "definite",
                    c.source, name));
  return q;
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

template <class Read>
auto reading(const std::string& path, const Read& read) {
  const Container c = read_container(path);
  try {
    return read(c);
  } catch (const json::exception& e) {
    throw FileError(fmt::format("{} is no usable checkpoint: {}", c.source, e.what()));
  }
}

}  // namespace

void save_checkpoint(const std::string& path, const TrainingState& state,
                     const std::string& problem) {
  Container c;
  json j{{"model", of_regression}, {"problem", problem}};
  put_jitter(c, state.jitter);
  put_restarts(c, j, state.restarts);
  c.metadata = j.dump();
  write_container(path, c);
}

TrainingState load_checkpoint(const std::string& path, const std::string& problem) {
  return reading(path, [&](const Container& c) {
    const json j = checkpoint_json(c, of_regression, problem);
    return TrainingState{get_restarts(c, j), get_jitter(c)};
  });
}

void save_checkpoint(const std::string& path, const SvgpState& state, const std::string& problem) {
  Container c;
  json j{{"model", of_svgp}, {"problem", problem}, {"covariance", state.q.form().print()}};
  put_jitter(c, state.jitter);
  put_q(c, "q", state.q);
  if (state.adam) {
    put_adam(c, *state.adam);
    put_q(c, "best_q", state.best_q);
    put_trace(c, "trace", state.trace);
    c.put_vector("numbers", Eigen::Vector2d(state.initial_value, state.seconds));
    j["step"] = state.step;
    j["shortened"] = state.shortened;
  } else {
    put_restarts(c, j, state.restarts);
  }
  c.metadata = j.dump();
  write_container(path, c);
}

SvgpState load_svgp_checkpoint(const std::string& path, const std::string& problem) {
  return reading(path, [&](const Container& c) {
    const json j = checkpoint_json(c, of_svgp, problem);
    const CovarianceForm form(j.at("covariance").get<std::string>());
    SvgpState s;
    s.jitter = get_jitter(c);
    s.q = get_q(c, "q", form);
    if (!c.has("adam.u")) {
      s.restarts = get_restarts(c, j);
      return s;
    }
    s.adam = get_adam(c);
    s.best_q = get_q(c, "best_q", form);
    s.trace = get_trace(c, "trace");
    const Vector numbers = c.vector("numbers", 2);
    s.initial_value = numbers(0);
    s.seconds = numbers(1);
    s.step = j.at("step");
    s.shortened = j.at("shortened");
    return s;
  });
}

// A minimisation that is over is kept as the best of its starts; how it was made is not.
void save_checkpoint(const std::string& path, const GplvmState& state, const std::string& problem) {
  Container c;
  json j{{"model", of_gplvm}, {"problem", problem}, {"done", json::array()}};
  for (std::size_t i = 0; i < state.done.size(); ++i) {
    if (!state.done[i].failure.empty()) {
      j["done"].push_back({{"failure", state.done[i].failure}});
      continue;
    }
    Minimum minimum = state.done[i].minimum;
    minimum.state.s.clear();
    minimum.state.y.clear();
    RestartsState over;
    over.run = minimum.state;
    over.best = std::move(minimum);
    Container own;
    json of_own;
    put_jitter(own, state.done[i].jitter);
    put_restarts(own, of_own, over);
    put_nested(c, fmt::format("done{}.", i), std::move(own));
    j["done"].push_back(std::move(of_own));
  }
  put_jitter(c, state.now.jitter);
  put_restarts(c, j, state.now.restarts);
  c.metadata = j.dump();
  write_container(path, c);
}

GplvmState load_gplvm_checkpoint(const std::string& path, const std::string& problem) {
  return reading(path, [&](const Container& c) {
    const json j = checkpoint_json(c, of_gplvm, problem);
    GplvmState out;
    for (std::size_t i = 0; i < j.at("done").size(); ++i) {
      if (const json& done = j.at("done")[i]; done.contains("failure")) {
        out.done.emplace_back().failure = done.at("failure").get<std::string>();
        continue;
      }
      const Container own = get_nested(c, fmt::format("done{}.", i));
      RestartsState over = get_restarts(own, j.at("done")[i]);
      if (!over.best)
        throw FileError(fmt::format("{} is no usable checkpoint: a minimum is missing", c.source));
      over.best->summary.evaluations = over.best->state.evaluations;
      over.best->summary.rejected_evaluations = over.best->state.rejected_evaluations;
      out.done.push_back({std::move(*over.best), get_jitter(own)});
    }
    out.now = {get_restarts(c, j), get_jitter(c)};
    return out;
  });
}

}  // namespace covary
