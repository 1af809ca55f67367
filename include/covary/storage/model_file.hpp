#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "covary/data/inputs.hpp"
#include "covary/models/regression.hpp"

namespace covary {

// A fit with what a table needs to reach it.
struct SavedModel {
  RegressionFit fit;
  InputColumns inputs;
};

// The model file of docs/model-file.md. Predictions before and after are the same bits.
void save_model(const std::string& path, const SavedModel& model);
SavedModel load_model(const std::string& path);
// The same bytes in memory.
std::vector<std::byte> save_model_bytes(const SavedModel& model);
SavedModel load_model_bytes(std::span<const std::byte> bytes);

}  // namespace covary
