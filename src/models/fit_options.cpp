#include "covary/models/fit_options.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>

#include "covary/error.hpp"
#include "covary/parameters/suggest.hpp"

namespace covary {
namespace {

using Takes = FitOption::Takes;

template <class Number>
Number parsed(const FitOption& option, const std::string& value) {
  Number out{};
  const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), out);
  if (error != std::errc() || end != value.data() + value.size())
    throw InputError(fmt::format("--{} takes a number, got '{}'", option.name, value));
  return out;
}

void check_range(const FitOption& option, double value) {
  const auto refuse = [&](const char* what) {
    throw InputError(fmt::format("--{} takes {}, got {}", option.name, what, value));
  };
  if (!std::isfinite(value)) refuse("a finite number");
  if (option.takes == Takes::at_least_zero && value < 0.0) refuse("a number of at least 0");
  if (option.takes == Takes::at_least_one && value < 1.0) refuse("a number of at least 1");
  if (option.takes == Takes::positive && !(value > 0.0)) refuse("a positive number");
}

void assign(const FitOption&, bool& to, const std::string& value) {
  to = value == "true" || value == "yes" || value == "1";
}
void assign(const FitOption& option, Index& to, const std::string& value) {
  to = parsed<Index>(option, value);
  check_range(option, static_cast<double>(to));
}
void assign(const FitOption& option, std::uint64_t& to, const std::string& value) {
  to = parsed<std::uint64_t>(option, value);
}
void assign(const FitOption& option, double& to, const std::string& value) {
  to = parsed<double>(option, value);
  check_range(option, to);
}
void assign(const FitOption& option, std::string& to, const std::string& value) {
  const auto& known = option.choices;
  if (!known.empty() && std::find(known.begin(), known.end(), value) == known.end())
    throw InputError(
        fmt::format("--{} takes {}, got '{}'", option.name, fmt::join(known, ", "), value));
  to = value;
}
void assign(const FitOption&, std::vector<std::string>& to, const std::string& value) {
  to.push_back(value);
}

std::string shown(const std::vector<std::string>& list) {
  return fmt::format("{}", fmt::join(list, "|"));
}
template <class Value>
std::string shown(const Value& value) {
  return fmt::format("{}", value);
}

}  // namespace

const FitOption& fit_option(const std::string& name) {
  std::vector<std::string> names;
  for (const FitOption& option : fit_options()) {
    if (option.name == name) return option;
    names.push_back(option.name);
  }
  throw InputError(fmt::format("fit has no option '{}'{}", name, did_you_mean(name, names)));
}

bool FitOptions::is_given(const std::string& name) const {
  return std::find(given.begin(), given.end(), name) != given.end();
}

void set_option(FitOptions& options, std::string name, const std::string& value) {
  std::replace(name.begin(), name.end(), '_', '-');
  const FitOption& option = fit_option(name);
  std::visit([&](auto member) { assign(option, options.*member, value); }, option.member);
  if (!options.is_given(name)) options.given.push_back(name);
}

std::string print_course(const FitOptions& options, bool with_limit) {
  std::string out;
  for (const FitOption& option : fit_options())
    if (option.on_the_way || (with_limit && option.name == "max-iter"))
      std::visit(
          [&](auto member) { out += fmt::format(" {}={}", option.name, shown(options.*member)); },
          option.member);
  return out;
}

}  // namespace covary
