#include "ledger.hpp"

#include <fmt/format.h>

#include <cstdlib>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "covary/data/file.hpp"
#include "covary/error.hpp"
#include "sparse_support.hpp"

namespace covary::experiments {
namespace {

using nlohmann::json;

json settings_of(const std::string& experiment, const Settings& s) {
  json out{{"experiment", experiment}, {"seed", s.seed}, {"repeats", s.repeats}, {"rows", s.rows}};
  if (s.small) out["small"] = true;
  return out;
}

}  // namespace

Ledger::Ledger(std::string experiment, const LongSettings& settings)
    : experiment_(std::move(experiment)), settings_(settings) {
  if (settings_.resume) read();
}

void Ledger::read() {
  const std::string& path = settings_.checkpoint;
  if (!std::filesystem::exists(path)) {
    progress(fmt::format("no checkpoint yet in {}: the experiment begins anew", path));
    return;
  }
  const json kept = json::parse(read_file(path), nullptr, false);
  try {
    const json& of = kept.at("settings");
    if (of != settings_of(experiment_, settings_))
      throw InputError(fmt::format(
          "{} is of another run: {}; leave out --resume, or name that run's own checkpoint", path,
          of.dump()));
    // Numbers are text: JSON has no infinities.
    for (const auto& [unit, numbers] : kept.at("units").items()) {
      Vector values(static_cast<Index>(numbers.size()));
      for (Index i = 0; i < values.size(); ++i)
        values(i) = std::strtod(
            numbers.at(static_cast<std::size_t>(i)).get_ref<const std::string&>().c_str(), nullptr);
      units_[unit] = std::move(values);
    }
  } catch (const json::exception&) {
    throw FileError(fmt::format("{} is not the checkpoint of an experiment", path));
  }
}

void Ledger::write() const {
  json units = json::object();
  for (const auto& [unit, values] : units_) {
    json& numbers = units[unit] = json::array();
    for (const double x : values) numbers.push_back(fmt::format("{:.17g}", x));
  }
  write_file(settings_.checkpoint,
             json{{"settings", settings_of(experiment_, settings_)}, {"units", units}}.dump(1));
}

Vector Ledger::once(const std::string& unit, Index count, const std::function<Vector()>& find) {
  if (const auto at = units_.find(unit); at != units_.end()) {
    if (at->second.size() != count)
      throw FileError(fmt::format("{}: '{}' should have {} numbers and has {}",
                                  settings_.checkpoint, unit, count, at->second.size()));
    progress(fmt::format("{}: from the checkpoint", unit));
    return at->second;
  }
  Vector found = find();
  units_[unit] = found;
  if (!settings_.checkpoint.empty()) write();
  return found;
}

}  // namespace covary::experiments
