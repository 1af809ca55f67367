#pragma once

#include <cstdint>
#include <vector>

#include "covary/linalg/types.hpp"

namespace covary {

// Row numbers, each list ascending; together they are all rows, once.
struct Split {
  std::vector<Index> train, test;
};

// round(test_fraction·n) random rows for testing, at least one on either side.
Split train_test_split(Index n, double test_fraction, std::uint64_t seed);

// K splits; every row is a test row in exactly one, and the folds differ by at most one row.
std::vector<Split> k_folds(Index n, Index K, std::uint64_t seed);

// As k_folds, but rows of one group (equal labels) are always on the same side. Folds are kept even
// in size by giving the largest groups out first, each to the smallest fold.
std::vector<Split> grouped_folds(const std::vector<Index>& groups, Index K, std::uint64_t seed);

// The rows of X with these numbers.
RowMatrix take_rows(ConstRows X, const std::vector<Index>& rows);

}  // namespace covary
