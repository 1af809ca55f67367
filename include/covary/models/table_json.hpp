#pragma once

#include <string>
#include <vector>

#include "covary/models/table.hpp"

namespace covary {

// An entry of the table of models as the text of a JSON object: what `covary models --json` and
// Python's models() give of it.
std::string as_json(const ModelEntry& entry);

// Which targets a model is for, in words.
std::string print(Targets targets);
// The names of what it can do.
std::vector<std::string> abilities(const ModelEntry& entry);

}  // namespace covary
