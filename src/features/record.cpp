#include "covary/features/record.hpp"

#include <fmt/format.h>

#include "covary/error.hpp"
#include "covary/features/eigen.hpp"
#include "features/fourier.hpp"
#include "features/kinds.hpp"
#include "features/stacked.hpp"

namespace covary {

namespace {

// One of each part of the kernel, whose structure says what they are of.
FeaturesPtr restore_stacked(const FeatureRecord& record, const Kernel& kernel) {
  constexpr Index most = 1000000;
  if (record.dims < 1 || record.dims > most)
    throw InputError(
        fmt::format("stacked features of {} columns: from 1 to {}", record.dims, most));
  const std::vector<KernelPart> parts = kernel_parts(kernel, record.dims);
  if (record.parts.size() != parts.size())
    throw InputError(fmt::format("{} features are stacked for the {} parts of {}",
                                 record.parts.size(), parts.size(), kernel.print()));
  std::vector<FeaturesPtr> features;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    if (record.parts[i].name == "stacked")
      throw InputError("stacked features cannot be stacked again");
    features.push_back(restore_features(record.parts[i], parts[i].kernel));
  }
  return stacked_features(kernel, record.dims, features);
}

}  // namespace

FeatureRecord record_features(const Features& features, ConstVector z) {
  FeatureRecord out{features.name(), features.size(), features.dims(), z, {}, {}};
  Index at = 0;
  for (const FeaturesPtr& part : stacked_parts(features)) {
    out.parts.push_back(record_features(*part, z.segment(at, part->parameter_count())));
    at += part->parameter_count();
  }
  out.degrees = degrees_of(features);
  if (out.degrees.empty()) out.degrees = harmonics_of(features);
  return out;
}

FeaturesPtr restore_features(const FeatureRecord& record, const Kernel& kernel) {
  if (record.name == "stacked") return restore_stacked(record, kernel);
  for (const FeatureKind* kind : feature_kinds())
    if (record.name == kind->name) return kind->restore(record, kernel);
  throw InputError(fmt::format("unknown features '{}'; choose {} or stacked", record.name,
                               list_of_kinds([](const auto&) { return true; })));
}

}  // namespace covary
