#pragma once

#include <vector>

#include "covary/linalg/types.hpp"

namespace covary {

// What several tables of the same rows have in common, by linear means: canonical correlations of
// two tables, and of more of them the directions of MAXVAR (Kettenring 1971), the leading
// eigenvectors of the sum of the projectors onto the spaces of the tables' principal components.
struct SharedDirections {
  RowMatrix scores;  // N×K, uncorrelated, of mean zero and unit variance over the rows
  // K, falling: the share of a direction's variance that a table explains, summed over the tables.
  // One for what a single table has, V for what all have; 1 + ρ of two tables, ρ the canonical
  // correlation.
  Vector agreement;
  double by_chance;  // the most that many rows and components of tables without relation agree

  // Of so many leading components of each table, or as many as it has; none of a table whose rows
  // are all the same. O(N·K² + K³) beside the components' cost, K of them in all.
  // InputError for tables of different numbers of rows, and for values not finite.
  static SharedDirections fit(const std::vector<RowMatrix>& tables, Index components);

  Index clear() const;  // how many directions agree by more than chance
};

}  // namespace covary
