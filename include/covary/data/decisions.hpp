#pragma once

#include <string>
#include <vector>

#include "covary/data/table.hpp"
#include "covary/linalg/types.hpp"

namespace covary {

// Decisions by posterior expected loss, a* = argmin_a ∫ L(y, a) p(y | x) dy (van der Wilk 2019,
// section 1.1.3), and that loss for each row.
struct Decisions {
  Vector decided, expected_loss;
};

// Classes: costs(k, j) is the loss of deciding j when the class is k, as in a confusion matrix. Of
// equals the first class is decided. InputError for costs that are not K×K and finite.
Decisions decide_classes(ConstRows probabilities, ConstMatrix costs);

// The costs in a table with a column `class` and one column for each class, in any order: the row
// of a class has the losses of each decision.
Matrix read_costs(const Table& table, const std::vector<std::string>& classes);

// Numbers: squared loss (y − a)², whose decision is the mean; absolute loss |y − a|, the median; or
// the loss (p − 1[y < a])(y − a) of the quantile p.
struct Loss {
  enum class Kind { squared, absolute, quantile };
  Kind kind = Kind::squared;
  double p = 0.5;

  Loss() = default;
  Loss(Kind k, double quantile) : kind(k), p(quantile) {}
  explicit Loss(const std::string& expression);  // "squared", "absolute", "quantile(0.9)"
};
// For y ~ N(mean, variance) of each row.
Decisions decide(const Loss& loss, ConstVector mean, ConstVector variance);

}  // namespace covary
