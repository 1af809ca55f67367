#pragma once

#include <string>
#include <vector>

namespace covary {

// " (did you mean 'x'?)" for the closest of `names` by edit distance, whatever the case of letters,
// or "" when none is close.
std::string did_you_mean(const std::string& word, const std::vector<std::string>& names);

}  // namespace covary
