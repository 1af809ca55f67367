#pragma once

#include <string>
#include <vector>

#include "covary/linalg/types.hpp"

namespace covary {

// The inputs as columns of unit mean square, centred when there is an intercept, which is the last
// column then.
struct LogisticDesign {
  Matrix B;             // N×F
  Vector shift, scale;  // of the inputs, D each
  bool intercept;

  Index inputs() const { return shift.size(); }
};
LogisticDesign standardised_design(ConstRows X, bool intercept);

// What messages call a column of the design.
struct InputNames {
  const std::vector<std::string>& given;
  Index D;

  std::string operator()(Index column) const;
  std::string list(const std::vector<Index>& columns) const;
};

// Why the weights are not unique, in words, or nothing.
std::string singularity(const LogisticDesign& design, const InputNames& name);

}  // namespace covary
