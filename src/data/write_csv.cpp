#include <fmt/format.h>

#include <array>
#include <charconv>
#include <chrono>
#include <cmath>

#include "covary/data/csv.hpp"
#include "covary/data/file.hpp"
#include "covary/error.hpp"

namespace covary {
namespace {

void append_text(std::string& out, const std::string& name) {
  if (name.find_first_of(",\"\n\r") == std::string::npos) {
    out += name;
    return;
  }
  out += '"';
  for (char c : name) {
    if (c == '"') out += '"';
    out += c;
  }
  out += '"';
}

void append_number(std::string& out, double value) {
  if (std::isnan(value)) {
    out += "nan";  // to_chars would write the sign of a NaN too
    return;
  }
  std::array<char, 32> digits;
  const auto result = std::to_chars(digits.data(), digits.data() + digits.size(), value);
  out.append(digits.data(), result.ptr);
}

}  // namespace

std::string format_csv(const Table& table, bool header) {
  std::string out;
  const auto columns = table.names.size();
  for (std::size_t j = 0; header && j < columns; ++j) {
    if (j > 0) out += ',';
    append_text(out, table.names[j]);
  }
  if (header && columns > 0) out += '\n';
  std::vector<bool> dates;
  dates.reserve(columns);
  for (const auto& name : table.names) dates.push_back(is_date(table.formats, name));
  for (Index i = 0; i < table.rows(); ++i) {
    for (std::size_t j = 0; j < columns; ++j) {
      if (j > 0) out += ',';
      const double value = table.values(i, static_cast<Index>(j));
      if (!table.text[j].empty())
        append_text(out, table.text[j][static_cast<std::size_t>(i)]);
      else if (dates[j])
        out += format_date(value);
      else
        append_number(out, value);
    }
    out += '\n';
  }
  return out;
}

std::string format_csv(const std::vector<std::string>& names, ConstRows values) {
  Table table = numeric_table(values);
  if (!names.empty()) table.names = names;
  return format_csv(table, !names.empty());
}

std::string format_date(double days) {
  if (!std::isfinite(days) || std::abs(days) > 1e7) return "";
  // To the nearest second, or thousandth of one.
  const auto ticks = static_cast<long long>(std::llround(days * 86400e3));
  const std::chrono::sys_time<std::chrono::milliseconds> at{std::chrono::milliseconds{ticks}};
  const auto day = std::chrono::floor<std::chrono::days>(at);
  const std::chrono::year_month_day date{day};
  std::string out =
      fmt::format("{:04}-{:02}-{:02}", static_cast<int>(date.year()),
                  static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()));
  const auto rest = (at - day).count();
  if (rest == 0) return out;
  out += fmt::format("T{:02}:{:02}:{:02}", rest / 3600000, rest / 60000 % 60, rest / 1000 % 60);
  if (rest % 1000 != 0) out += fmt::format(".{:03}", rest % 1000);
  return out;
}

void write_csv(const std::string& path, const std::vector<std::string>& names, ConstRows values) {
  if (!names.empty() && static_cast<Index>(names.size()) != values.cols())
    throw InputError(fmt::format("writing '{}': {} column names were given for {} columns", path,
                                 names.size(), values.cols()));
  write_file(path, format_csv(names, values));
}

}  // namespace covary
