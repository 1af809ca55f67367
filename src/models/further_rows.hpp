#pragma once

#include <optional>

#include "covary/models/fit.hpp"
#include "covary/training/summary.hpp"

namespace covary {

// The rows of a table that join a fit: those with an observed output. `noisy`: whether the rows
// before had known noise variances; unset: as these have them.
struct FurtherRows {
  FurtherRows(const FitRecord& fit, const Table& table, const TableQuestion& question,
              std::optional<bool> noisy);
  void tell_of(Summary& summary) const;

  RowMatrix X, Y;
  Vector noise;
};

}  // namespace covary
