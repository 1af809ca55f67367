#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "covary/linalg/cholesky.hpp"
#include "covary/storage/container.hpp"
#include "covary/training/restarts.hpp"

namespace covary {

// What the checkpoints of every model have alike.
void put_jitter(Container& c, const Jitter& jitter);
Jitter get_jitter(const Container& c);
void put_trace(Container& c, const std::string& name, const std::vector<Summary::Point>& trace);
std::vector<Summary::Point> get_trace(const Container& c, const std::string& name);
// InputError before the first iteration.
void put_restarts(Container& c, nlohmann::json& j, const RestartsState& r);
RestartsState get_restarts(const Container& c, const nlohmann::json& j);

// The JSON of a checkpoint of this kind ("model") of this problem. FileError for another file,
// InputError for another problem.
nlohmann::json checkpoint_json(const Container& c, const std::string& kind,
                               const std::string& problem);

}  // namespace covary
