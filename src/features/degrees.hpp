#pragma once

#include "covary/linalg/types.hpp"

namespace covary {

// Features that are products over columns, each with its degree there: M×D.
class WithDegrees {
 public:
  virtual ~WithDegrees() = default;
  virtual const Eigen::MatrixX<Index>& degrees() const = 0;
};

}  // namespace covary
