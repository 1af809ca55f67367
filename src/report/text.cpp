#include "report/text.hpp"

#include <fmt/format.h>

#include <cmath>

namespace covary {
namespace {

// The length of the UTF-8 character at the front of `text`, or 0 when there is none: RFC 3629,
// without overlong forms, surrogates and what lies beyond U+10FFFF.
std::size_t character_length(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char first = byte(0);
  if (first < 0x80) return 1;
  const std::size_t length = first >= 0xC2 && first <= 0xDF   ? 2
                             : first >= 0xE0 && first <= 0xEF ? 3
                             : first >= 0xF0 && first <= 0xF4 ? 4
                                                              : 0;
  if (length == 0 || text.size() < length) return 0;
  const unsigned char low = first == 0xE0 ? 0xA0 : first == 0xF0 ? 0x90 : 0x80;
  const unsigned char high = first == 0xED ? 0x9F : first == 0xF4 ? 0x8F : 0xBF;
  if (byte(1) < low || byte(1) > high) return 0;
  for (std::size_t i = 2; i < length; ++i)
    if ((byte(i) & 0xC0) != 0x80) return 0;
  return length;
}

}  // namespace

std::string escape_html(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) {
    const std::size_t length = character_length(text);
    const unsigned char c = static_cast<unsigned char>(text[0]);
    const bool control = length == 1 && ((c < 0x20 && c != '\n' && c != '\t') || c == 0x7F);
    if (length == 0 || control)
      out += "\xEF\xBF\xBD";
    else if (c == '&')
      out += "&amp;";
    else if (c == '<')
      out += "&lt;";
    else if (c == '>')
      out += "&gt;";
    else if (c == '"')
      out += "&quot;";
    else if (c == '\'')
      out += "&#39;";
    else
      out.append(text.substr(0, length));
    text.remove_prefix(length == 0 ? 1 : length);
  }
  return out;
}

std::string shorten(std::string_view text, std::size_t most) {
  std::size_t count = 0, end_of_kept = 0;
  for (std::size_t at = 0; at < text.size(); ++count) {
    if (count + 1 == most) end_of_kept = at;
    at += std::max<std::size_t>(1, character_length(text.substr(at)));
  }
  return count <= most ? std::string(text) : std::string(text.substr(0, end_of_kept)) + "…";
}

std::string short_number(double value) {
  return std::isfinite(value) ? fmt::format("{:.4g}", value) : "–";
}

}  // namespace covary
