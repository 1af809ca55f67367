#pragma once

#include <string>
#include <string_view>

namespace covary {

bool is_utf8(std::string_view text);

// ISO 8859-1, of which every byte string is an example, as UTF-8.
std::string latin1_to_utf8(std::string_view text);

}  // namespace covary
