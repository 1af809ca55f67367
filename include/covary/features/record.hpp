#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "covary/features/features.hpp"

namespace covary {

// What features are made again from, beside their kernel: what files and pickles hold of them.
struct FeatureRecord {
  std::string name;  // as Features::name() has it
  Index size = 0, dims = 0;
  Vector z;                           // their parameters
  std::vector<std::int64_t> degrees;  // of products over columns, row by row
  std::vector<FeatureRecord> parts;   // of stacked features, one for each part of the kernel
};

FeatureRecord record_features(const Features& features, ConstVector z);

// Throws InputError where the record is not of features of this kernel.
FeaturesPtr restore_features(const FeatureRecord& record, const Kernel& kernel);

}  // namespace covary
