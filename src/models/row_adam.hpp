#pragma once

#include <cmath>
#include <span>

#include "covary/linalg/types.hpp"

namespace covary {

// Adam (Kingma & Ba 2015) for parameters that belong to rows, of which a step moves those of its
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
    constexpr double beta1 = 0.9, beta2 = 0.999, epsilon = 1e-8;
    for (Index i = 0; i < gradient.rows(); ++i) {
      if (!gradient.row(i).allFinite()) continue;
      const Index n = rows[static_cast<std::size_t>(i)];
      count(n) += 1.0;
      first.row(n) = beta1 * first.row(n) + (1.0 - beta1) * gradient.row(i);
      second.row(n) =
          beta2 * second.row(n).array() + (1.0 - beta2) * gradient.row(i).array().square();
      const double c1 = 1.0 - std::pow(beta1, count(n)), c2 = 1.0 - std::pow(beta2, count(n));
      u.row(n).array() -=
          rate * (first.row(n).array() / c1) / ((second.row(n).array() / c2).sqrt() + epsilon);
    }
  }
};

}  // namespace covary
