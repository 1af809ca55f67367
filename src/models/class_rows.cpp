#include "models/class_rows.hpp"

#include <fmt/format.h>

#include <cmath>

#include "covary/data/labels.hpp"
#include "covary/data/split.hpp"
#include "covary/error.hpp"
#include "models/checks.hpp"

namespace covary {

ClassRows class_rows(ConstRows X, ConstVector labels, Index classes) {
  if (classes < 2)
    throw InputError(fmt::format("there are {} classes; two are needed to tell apart", classes));
  check_regression_data(X, RowMatrix(labels), Vector());
  ClassRows out;
  out.counts = class_counts(labels, classes);
  std::vector<Index> rows;
  for (Index i = 0; i < labels.size(); ++i) {
    if (std::isnan(labels[i])) continue;
    rows.push_back(i);
    out.label.push_back(static_cast<Index>(labels[i]));
  }
  out.X = take_rows(X, rows);
  return out;
}

void check_new_inputs(ConstRows X, Index D) {
  if (X.cols() != D)
    throw InputError(fmt::format("X has {} columns; the model was made from {}", X.cols(), D));
  for (Index i = 0; i < X.rows(); ++i)
    for (Index j = 0; j < D; ++j)
      if (!std::isfinite(X(i, j)))
        throw InputError(
            fmt::format("X is {} at row {}, column {}; inputs must be finite", X(i, j), i, j));
}

}  // namespace covary
