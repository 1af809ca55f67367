#pragma once

#include <functional>

#include "covary/linalg/types.hpp"

namespace covary {

// Adds up what lanes compute. A lane is a fixed part of the work with an accumulator of its own,
// `size` doubles that begin at zero; the sum is taken in the order of the lanes, so it has the same
// bits whoever computed which.
class Reducer {
 public:
  using Lane = std::function<void(Index lane, double* sum)>;
  virtual ~Reducer() = default;
  virtual Vector reduce(Index lanes, Index size, const Lane& body) = 0;
};

// Lanes by the threads of this process. Of the accumulators only those under way are kept.
Reducer& thread_reducer();

}  // namespace covary
