#pragma once

#include <string>
#include <string_view>

namespace covary {

// Text made safe for HTML and SVG, in content and in quoted attributes: & < > " ' are escaped;
// control characters and bytes that are not UTF-8 become U+FFFD.
std::string escape_html(std::string_view text);

// At most `most` characters (code points), the last an ellipsis where some were left out.
std::string shorten(std::string_view text, std::size_t most);

// Four significant digits; "–" for a number that is not finite.
std::string short_number(double value);

}  // namespace covary
