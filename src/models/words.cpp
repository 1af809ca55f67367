#include "models/words.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>

#include "covary/error.hpp"

namespace covary {

std::vector<std::string> split_lists(const std::vector<std::string>& given) {
  std::vector<std::string> out;
  for (const auto& list : given) {
    std::size_t at = 0;
    while (at <= list.size()) {
      const auto comma = std::min(list.find(',', at), list.size());
      if (comma > at) out.push_back(list.substr(at, comma - at));
      at = comma + 1;
    }
  }
  return out;
}

std::pair<std::string, std::string> split_assignment(const std::string& text, const char* option) {
  const auto equals = text.find('=');
  if (equals == std::string::npos || equals == 0 || equals + 1 == text.size())
    throw InputError(fmt::format("{} takes PATH=VALUE, got '{}'", option, text));
  return {text.substr(0, equals), text.substr(equals + 1)};
}

std::vector<double> parse_numbers(const std::string& text, const std::string& what) {
  std::vector<double> out;
  for (const auto& word : split_lists({text})) {
    double value = 0.0;
    const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
    if (error != std::errc() || end != word.data() + word.size() || !std::isfinite(value))
      throw InputError(fmt::format("{}: '{}' is not a number", what, word));
    out.push_back(value);
  }
  if (out.empty()) throw InputError(fmt::format("{}: no number in '{}'", what, text));
  return out;
}

}  // namespace covary
