#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace covary {

// A cell that stands for no value: empty, NA, N/A, null, ? or nan.
bool is_missing(std::string_view cell);

// A decimal number, nothing before or after it. What overflows is ±inf, what underflows 0.
std::optional<double> parse_number(std::string_view cell);

// An ISO date 2020-01-31, optionally with T or a space and hh:mm, hh:mm:ss or hh:mm:ss.fff and Z,
// as days since 1970-01-01.
std::optional<double> parse_date(std::string_view cell);

// "a, b, c" for messages; of more than twenty the first ones and how many there are.
std::string name_list(const std::vector<std::string>& names);

}  // namespace covary
