#pragma once

#include <nlohmann/json.hpp>
#include <vector>

#include "covary/linalg/types.hpp"

namespace covary::testing {

// A list of rows, as the oracles in tests/oracles hold them.
inline RowMatrix rows_of(const nlohmann::json& j) {
  RowMatrix out(static_cast<Index>(j.size()), static_cast<Index>(j[0].size()));
  for (Index i = 0; i < out.rows(); ++i)
    for (Index d = 0; d < out.cols(); ++d)
      out(i, d) = j[static_cast<std::size_t>(i)][static_cast<std::size_t>(d)];
  return out;
}

// A list, or one number.
inline Vector vector_of(const nlohmann::json& j) {
  if (j.is_number()) return Vector::Constant(1, j.get<double>());
  const auto v = j.get<std::vector<double>>();
  return Eigen::Map<const Vector>(v.data(), static_cast<Index>(v.size()));
}

}  // namespace covary::testing
