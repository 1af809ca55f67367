#include "covary/models/checkpoint.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "covary/error.hpp"
#include "models/fit_json.hpp"
#include "models/training_arrays.hpp"

namespace covary {
namespace {

using nlohmann::json;

constexpr const char* kind = "checkpoint";

void put_blocks(Container& c, json& j, const std::string& name, const Blocks& blocks) {
  j[name] = blocks.size();
  for (std::size_t i = 0; i < blocks.size(); ++i)
    c.put_matrix(fmt::format("{}.{}", name, i), blocks[i]);
}

Blocks get_blocks(const Container& c, const json& j, const std::string& name) {
  const auto count = j.at(name).get<std::size_t>();
  if (count > c.tensors.size())
    throw FileError(
        fmt::format("{} is not a usable checkpoint: it cannot have {} arrays", c.source, count));
  Blocks out;
  for (std::size_t i = 0; i < count; ++i) out.push_back(c.matrix(fmt::format("{}.{}", name, i)));
  return out;
}

// A part that is over: its point and what is told of it; how it got there is not kept.
json put_part(Container& all, const std::string& name, const TrainingState::Part& part) {
  Container c;
  json j{{"work", part.work}, {"failure", part.failure}, {"summary", to_json(part.summary)}};
  put_jitter(c, part.jitter);
  put_blocks(c, j, "blocks", part.blocks);
  put_run(c, "run", part.run);
  put_nested(all, name, std::move(c));
  return j;
}

TrainingState::Part get_part(const Container& all, const json& j, const std::string& name) {
  const Container c = get_nested(all, name);
  return {get_run(c, "run"),
          summary_from(j.at("summary")),
          get_jitter(c),
          get_blocks(c, j, "blocks"),
          j.at("work").get<std::string>(),
          j.at("failure").get<std::string>()};
}

void put_minibatches(Container& c, json& j, const MinibatchState& s) {
  put_adam(c, s.adam);
  put_trace(c, "minibatches.trace", s.trace);
  put_blocks(c, j, "best", s.best);
  j["step"] = s.step;
  j["steps"] = s.steps;
  j["initial_value"] = number(s.initial_value);
}

MinibatchState get_minibatches(const Container& c, const json& j) {
  MinibatchState s;
  s.adam = get_adam(c);
  s.trace = get_trace(c, "minibatches.trace");
  s.best = get_blocks(c, j, "best");
  s.step = j.at("step");
  s.steps = j.at("steps");
  s.initial_value = number_or_nan(j.at("initial_value"));
  return s;
}

TrainingState read(const Container& c, const std::string& problem) {
  const json j = json::parse(c.metadata);
  if (j.at("model") != kind)
    throw FileError(
        fmt::format("{} is not a checkpoint; start from a model with --from", c.source));
  if (j.at("problem") != problem)
    throw InputError(fmt::format(
        "{} is the checkpoint of another fit: the data, the kernel or an option that training "
        "depends on differ; give the same ones, or leave --resume out",
        c.source));
  TrainingState out;
  for (std::size_t i = 0; i < j.at("done").size(); ++i)
    out.done.push_back(get_part(c, j.at("done")[i], fmt::format("done{}.", i)));
  out.jitter = get_jitter(c);
  out.blocks = get_blocks(c, j, "blocks");
  out.seconds = number_or_nan(j.at("seconds"));
  if (c.has("run.u")) {
    out.run = get_run(c, "run");
    out.trace = get_trace(c, "run.trace");
  }
  if (c.has("adam.u")) out.minibatches = get_minibatches(c, j);
  return out;
}

}  // namespace

void save_checkpoint(const std::string& path, const TrainingState& state,
                     const std::string& problem) {
  if (state.done.empty() && !state.run && !state.minibatches)
    throw InputError("no training step has been made: nothing to checkpoint");
  Container c;
  json j{{"model", kind}, {"problem", problem}, {"done", json::array()}};
  for (std::size_t i = 0; i < state.done.size(); ++i)
    j["done"].push_back(put_part(c, fmt::format("done{}.", i), state.done[i]));
  put_jitter(c, state.jitter);
  put_blocks(c, j, "blocks", state.blocks);
  j["seconds"] = state.seconds;
  if (state.run) {
    put_run(c, "run", *state.run);
    put_trace(c, "run.trace", state.trace);
  }
  if (state.minibatches) put_minibatches(c, j, *state.minibatches);
  c.metadata = j.dump();
  write_container(path, c);
}

TrainingState load_checkpoint(const std::string& path, const std::string& problem) {
  const Container c = read_container(path);
  try {
    return read(c, problem);
  } catch (const nlohmann::json::exception& e) {
    throw FileError(fmt::format("{} is not a usable checkpoint: {}", c.source, e.what()));
  }
}

}  // namespace covary
