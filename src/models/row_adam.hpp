#pragma once

#include <span>

#include "training/adam_update.hpp"

namespace covary {

// Adam for parameters that belong to rows, of which a step moves those of its
// batch alone: each row has moments and a count of its own. Minimises.
struct RowAdam {
  RowMatrix u, first, second;  // N × parameters of a row
  Vector count;                // steps of each row

  explicit RowAdam(RowMatrix start = {})
      : u(std::move(start)),
        first(RowMatrix::Zero(u.rows(), u.cols())),
        second(first),
        count(Vector::Zero(u.rows())) {}

  // Row i of the gradient is of rows[i]; one that is not finite leaves its row where it is.
  void step(std::span<const Index> rows, const RowMatrix& gradient, double rate) {
    for (Index i = 0; i < gradient.rows(); ++i) {
      if (!gradient.row(i).allFinite()) continue;
      const Index n = rows[static_cast<std::size_t>(i)];
      count(n) += 1.0;
      adam_update(u.row(n).array(), first.row(n).array(), second.row(n).array(),
                  gradient.row(i).array(), count(n), rate);
    }
  }
};

}  // namespace covary
