#pragma once

#include <string>
#include <utility>
#include <vector>

namespace covary {

// What is written in the values of options.

// "a,b" and repeated options alike: one list.
std::vector<std::string> split_lists(const std::vector<std::string>& given);
// "PATH=VALUE" of an option of this name.
std::pair<std::string, std::string> split_assignment(const std::string& text, const char* option);
std::vector<double> parse_numbers(const std::string& text, const std::string& what);

}  // namespace covary
