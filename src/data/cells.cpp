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

// hh:mm, hh:mm:ss or hh:mm:ss.fff as a fraction of a day.
std::optional<double> parse_time(std::string_view s) {
  if (!s.empty() && s.back() == 'Z') s.remove_suffix(1);
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
  return (*hour * 3600 + *minute * 60 + second) / 86400;
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

std::optional<double> parse_date(std::string_view s) {
  const auto year = digits(s, 0, 4), month = digits(s, 5, 2), day = digits(s, 8, 2);
  if (!year || !month || !day || s[4] != '-' || s[7] != '-') return {};
  const std::chrono::year_month_day date{std::chrono::year{*year},
                                         std::chrono::month{static_cast<unsigned>(*month)},
                                         std::chrono::day{static_cast<unsigned>(*day)}};
  if (!date.ok()) return {};
  const double days = static_cast<double>(std::chrono::sys_days{date}.time_since_epoch().count());
  if (s.size() == 10) return days;
  if (s[10] != 'T' && s[10] != ' ') return {};
  const auto time = parse_time(s.substr(11));
  if (!time) return {};
  return days + *time;
}

std::string name_list(const std::vector<std::string>& names) {
  constexpr std::size_t most = 20;
  const auto shown = static_cast<std::ptrdiff_t>(std::min(names.size(), most));
  std::string list = fmt::format("{}", fmt::join(names.begin(), names.begin() + shown, ", "));
  if (names.size() > most) list += fmt::format(", … ({} in all)", names.size());
  return list;
}

}  // namespace covary
