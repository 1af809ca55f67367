#pragma once

#include <vector>

#include "covary/linalg/types.hpp"

namespace covary {

// The rows that have a label.
struct ClassRows {
  RowMatrix X;
  std::vector<Index> label;
  std::vector<Index> counts;  // of each class
};

// Throws InputError naming what is wrong with the data of a classification.
ClassRows class_rows(ConstRows X, ConstVector labels, Index classes);

// Throws InputError unless X can be predicted by a model of D inputs.
void check_new_inputs(ConstRows X, Index D);

}  // namespace covary
