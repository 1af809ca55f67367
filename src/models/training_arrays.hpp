#pragma once

#include <string>
#include <vector>

#include "covary/linalg/cholesky.hpp"
#include "covary/storage/container.hpp"
#include "covary/training/state.hpp"

namespace covary {

// What a checkpoint is made of.
void put_jitter(Container& c, const Jitter& jitter);
Jitter get_jitter(const Container& c);
void put_trace(Container& c, const std::string& name, const std::vector<Summary::Point>& trace);
std::vector<Summary::Point> get_trace(const Container& c, const std::string& name);
void put_run(Container& c, const std::string& name, const LbfgsState& s);
LbfgsState get_run(const Container& c, const std::string& name);
void put_adam(Container& c, const AdamState& s);
AdamState get_adam(const Container& c);

}  // namespace covary
