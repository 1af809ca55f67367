#include "data/cells.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <limits>

namespace covary {
namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }

// The number in exactly `count` digits at `at`.
std::optional<int> digits(std::string_view s, std::size_t at, std::size_t count) {
  if (at + count > s.size()) return {};
  int value = 0;
  for (std::size_t i = at; i < at + count; ++i) {
    if (!is_digit(s[i])) return {};
    value = 10 * value + (s[i] - '0');
  }
  return value;
}

// from_chars says only that 1e400 and 1e-400 are out of range, not on which side; strtod would, but
// reads the decimal point of the user's locale.
double out_of_range(std::string_view number) {
  const bool negative = number.starts_with('-');
  if (negative) number.remove_prefix(1);
  const auto exponent = number.find_first_of("eE");
  const bool tiny = exponent == number.npos ? number.starts_with('0') || number.starts_with('.')
                                            : number.substr(exponent + 1).starts_with('-');
  const double magnitude = tiny ? 0.0 : std::numeric_limits<double>::infinity();
  return negative ? -magnitude : magnitude;
}

// hh:mm, hh:mm:ss or hh:mm:ss.fff, and Z or an offset from UTC, as a fraction of a day.
std::optional<double> parse_time(std::string_view s) {
  double offset = 0.0;
  if (!s.empty() && s.back() == 'Z') {
    s.remove_suffix(1);
  } else if (const auto sign = s.find_first_of("+-"); sign != s.npos) {
    const std::string_view zone = s.substr(sign + 1);
    const bool colon = zone.size() == 5 && zone[2] == ':';
    const auto hours = digits(zone, 0, 2), minutes = digits(zone, colon ? 3 : 2, 2);
    if (!hours || (zone.size() != 2 && !minutes) || zone.size() > (colon ? 5 : 4)) return {};
    offset = (*hours * 60 + (zone.size() == 2 ? 0 : *minutes)) * (s[sign] == '-' ? -60.0 : 60.0);
    s = s.substr(0, sign);
  }
  const auto hour = digits(s, 0, 2), minute = digits(s, 3, 2);
  if (!hour || !minute || s[2] != ':' || *hour > 23 || *minute > 59) return {};
  double second = 0;
  if (s.size() > 5) {
    const auto whole = digits(s, 6, 2);
    if (s[5] != ':' || !whole || *whole > 60) return {};  // 60: a leap second
    const auto value = parse_number(s.substr(6));
    if (!value || (s.size() > 8 && s[8] != '.')) return {};
    second = *value;
  }
  return (*hour * 3600 + *minute * 60 + second - offset) / 86400;
}

}  // namespace

bool is_missing(std::string_view s) {
  return s.empty() || s == "?" || s == "NA" || s == "N/A" || s == "null" || s == "NULL" ||
         s == "nan" || s == "NaN" || s == "NAN";
}

std::optional<double> parse_number(std::string_view cell) {
  if (cell.size() > 1 && cell[0] == '+' && (is_digit(cell[1]) || cell[1] == '.'))
    cell.remove_prefix(1);  // from_chars knows no plus sign
  double value = 0;
  const char* end = cell.data() + cell.size();
  const auto [stop, error] = std::from_chars(cell.data(), end, value);
  if (stop != end || error == std::errc::invalid_argument) return {};
  if (error == std::errc::result_out_of_range) value = out_of_range(cell);
  return value;
}

std::optional<double> parse_marked(std::string_view s, CellFormat decimal, std::string* mark) {
  static constexpr std::string_view marks[] = {"€", "$", "£", "¥", "₹", "EUR", "USD", "GBP", "%"};
  static constexpr std::string_view spaces[] = {" ", "\u00a0", "\u202f"};
  const auto trim = [&] {
    for (const auto space : spaces) {
      while (s.starts_with(space)) s.remove_prefix(space.size());
      while (s.ends_with(space)) s.remove_suffix(space.size());
    }
  };
  bool negative = false, signed_before = false;
  const auto take_sign = [&] {
    trim();
    if (signed_before || s.empty() || (s[0] != '-' && s[0] != '+')) return;
    signed_before = true;
    negative = s[0] == '-';
    s.remove_prefix(1);
    trim();
  };
  take_sign();
  for (const auto m : marks) {
    if (!(s.starts_with(m) && m != "%") && !s.ends_with(m)) continue;
    if (mark) *mark = m;
    s.starts_with(m) ? s.remove_prefix(m.size()) : s.remove_suffix(m.size());
    break;
  }
  take_sign();
  // Groups of three digits, the first of one to three, by one separator throughout.
  const char point = decimal == CellFormat::comma ? ',' : '.';
  std::string plain(negative ? "-" : "");
  std::string_view separator;
  std::size_t group = 0, groups = 1, at = 0;
  for (; at < s.size() && s[at] != point && s[at] != 'e' && s[at] != 'E';) {
    if (is_digit(s[at])) {
      plain += s[at++];
      ++group;
      continue;
    }
    std::string_view found;
    for (const std::string_view c :
         {std::string_view(point == '.' ? "," : "."), std::string_view("'"), std::string_view("’"),
          spaces[0], spaces[1], spaces[2]})
      if (s.substr(at).starts_with(c)) found = c;
    const bool first = groups == 1;
    if (found.empty() || (!first && found != separator)) return {};
    if (group == 0 || group > 3 || (!first && group != 3)) return {};
    separator = found;
    at += found.size();
    group = 0;
    ++groups;
  }
  if (groups > 1 && group != 3) return {};
  if (at < s.size() && s[at] == point) {
    plain += '.';
    ++at;
  }
  plain += s.substr(at);
  if (s.find(point, at) != s.npos || plain.find(',') != plain.npos) return {};
  return parse_number(plain);
}

std::optional<double> parse_date(std::string_view s, CellFormat format) {
  // Three runs of digits with the same sign between them.
  std::size_t at = 0, lengths[3] = {};
  int numbers[3] = {};
  const auto sign_at = s.find_first_of("-/.");
  if (sign_at == s.npos) return {};
  const char sign = s[sign_at];
  for (int part = 0; part < 3; ++part) {
    for (; at < s.size() && is_digit(s[at]) && lengths[part] < 4; ++at, ++lengths[part])
      numbers[part] = 10 * numbers[part] + (s[at] - '0');
    if (part < 2 && (at >= s.size() || s[at++] != sign)) return {};
  }
  int year = 0, month = 0, day = 0;
  if (format == CellFormat::date) {
    if (lengths[0] != 4 || lengths[1] != 2 || lengths[2] != 2 || sign == '.') return {};
    year = numbers[0], month = numbers[1], day = numbers[2];
  } else {
    const auto short_enough = [&](int part) { return lengths[part] == 1 || lengths[part] == 2; };
    if (!short_enough(0) || !short_enough(1) || (lengths[2] != 2 && lengths[2] != 4)) return {};
    const bool day_first = format == CellFormat::day_first;
    if (!day_first && sign == '.') return {};
    day = numbers[day_first ? 0 : 1], month = numbers[day_first ? 1 : 0], year = numbers[2];
    if (lengths[2] == 2) year += year < 69 ? 2000 : 1900;
  }
  const std::chrono::year_month_day date{std::chrono::year{year},
                                         std::chrono::month{static_cast<unsigned>(month)},
                                         std::chrono::day{static_cast<unsigned>(day)}};
  if (!date.ok()) return {};
  const double days = static_cast<double>(std::chrono::sys_days{date}.time_since_epoch().count());
  if (at == s.size()) return days;
  if (s[at] != 'T' && s[at] != ' ') return {};
  const auto time = parse_time(s.substr(at + 1));
  if (!time) return {};
  return days + *time;
}

bool is_value(std::string_view cell) {
  using F = CellFormat;
  return parse_number(cell) || parse_marked(cell, F::point) || parse_marked(cell, F::comma) ||
         parse_date(cell) || parse_date(cell, F::day_first) || parse_date(cell, F::month_first);
}

std::string name_list(const std::vector<std::string>& names) {
  constexpr std::size_t most = 20;
  const auto shown = static_cast<std::ptrdiff_t>(std::min(names.size(), most));
  std::string list = fmt::format("{}", fmt::join(names.begin(), names.begin() + shown, ", "));
  if (names.size() > most) list += fmt::format(", … ({} in all)", names.size());
  return list;
}

}  // namespace covary
