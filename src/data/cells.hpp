#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "covary/data/table.hpp"

namespace covary {

// A cell that stands for no value: empty, NA, N/A, null, ? or nan.
bool is_missing(std::string_view cell);

// A decimal number, nothing before or after it. What overflows is ±inf, what underflows 0.
std::optional<double> parse_number(std::string_view cell);

// A number with separators of thousands (comma or point, space, apostrophe), and a currency sign or
// '%', which go to `mark` if it is given.
std::optional<double> parse_marked(std::string_view cell, CellFormat decimal,
                                   std::string* mark = nullptr);

// A date by one of the formats of dates, optionally with T or a space and hh:mm, hh:mm:ss or
// hh:mm:ss.fff and Z or an offset such as +01:00, as days since 1970-01-01 (UTC where there is an
// offset). Years of two digits are 1969 to 2068.
std::optional<double> parse_date(std::string_view cell, CellFormat format = CellFormat::date);

// A number or a date in any format.
bool is_value(std::string_view cell);

// "a, b, c" for messages; of more than twenty the first ones and how many there are.
std::string name_list(const std::vector<std::string>& names);

}  // namespace covary
