#include <fmt/format.h>

#include <array>
#include <charconv>
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

std::string format_csv(const std::vector<std::string>& names, ConstRows values,
                       const std::vector<std::string>& text) {
  std::string out;
  for (std::size_t j = 0; j < names.size(); ++j) {
    if (j > 0) out += ',';
    append_text(out, names[j]);
  }
  if (!names.empty()) out += '\n';
  for (Index i = 0; i < values.rows(); ++i) {
    if (!text.empty()) append_text(out, text[static_cast<std::size_t>(i)]);
    for (Index j = 0; j < values.cols(); ++j) {
      if (j > 0 || !text.empty()) out += ',';
      append_number(out, values(i, j));
    }
    out += '\n';
  }
  return out;
}

void write_csv(const std::string& path, const std::vector<std::string>& names, ConstRows values) {
  if (!names.empty() && static_cast<Index>(names.size()) != values.cols())
    throw InputError(fmt::format("writing '{}': {} column names were given for {} columns", path,
                                 names.size(), values.cols()));
  write_file(path, format_csv(names, values));
}

}  // namespace covary
