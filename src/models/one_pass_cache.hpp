#pragma once

#include <memory>
#include <mutex>

#include "statistics/one_pass.hpp"

namespace covary {

// The sums of one pass over the rows, and the features that they are of; null where they do not do.
struct OnePassCache {
  std::mutex mutex;
  FeaturesPtr features;
  Vector z;
  std::shared_ptr<const OnePassStatistics> rows;
};

}  // namespace covary
