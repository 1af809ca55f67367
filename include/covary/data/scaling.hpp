#pragma once

#include <functional>
#include <string>
#include <vector>

#include "covary/linalg/types.hpp"

namespace covary {

enum class ScaleMode {
  columns,  // each column by its own mean and standard deviation
  global,   // each column by its own mean, all by one standard deviation: keeps relative sizes
  none
};

// "columns", "global" or "none"; InputError otherwise.
ScaleMode parse_scale_mode(const std::string& name);

// The map x ↦ (x − shift)/scale of each column, and back. NaN (missing) stays NaN.
struct Scaling {
  Vector shift, scale;  // D each

  static Scaling identity(Index D);
  Index cols() const { return shift.size(); }

  RowMatrix apply(ConstRows X) const;
  RowMatrix undo(ConstRows X) const;
  RowMatrix undo_variance(ConstRows V) const;  // scale² · V
  // Σ log scale over the observed (not NaN) entries of Y, so that
  // log p(Y) = log p(apply(Y)) − log_jacobian(Y).
  double log_jacobian(ConstRows Y) const;
};

// Gives the rows of a table to a visitor, in order and in blocks: all in memory, or read anew.
using RowPass = std::function<void(const std::function<void(ConstRows)>&)>;

// Of each column, over its observed entries; sd with the divisor N.
struct ColumnMoments {
  Vector count, mean, sd;
};
// In four passes over the rows; the same bits however they are cut into blocks.
ColumnMoments column_moments(Index cols, const RowPass& pass);

struct ScalingFit {
  Scaling scaling;
  std::vector<std::string> warnings;
};

// Means and standard deviations (divisor N) over the observed entries of each column; InputError if
// an entry is infinite. `names` (D, or none) are for messages.
//
// A column is constant when sd ≤ 1e-10·|mean|, a rule that does not depend on the units: what
// varies less keeps under six digits of a double. With `columns`, constant columns and columns
// without an observed entry are left alone (shift 0, scale 1) with a warning. With `global` a
// constant column is centred like any other; only when all are constant is everything left alone.
ScalingFit fit_scaling(ConstRows X, ScaleMode mode, const std::vector<std::string>& names = {});
ScalingFit fit_scaling(const ColumnMoments& moments, ScaleMode mode,
                       const std::vector<std::string>& names = {});

// `global` for images and other tables of many columns in one unit: more than 50 columns, of which
// at least half of those that vary span at least half the range of the whole table. Else `columns`.
ScaleMode suggest_mode(ConstRows X);
// The same from the smallest and the largest value of each column.
ScaleMode suggest_mode(const Vector& low, const Vector& high);

}  // namespace covary
