#pragma once

#include <functional>

#include "covary/linalg/cholesky.hpp"
#include "statistics/block.hpp"
#include "statistics/group.hpp"

namespace covary {

// One group of rows within a block: `at` is its first row there.
struct GroupRows {
  RowBlock x;
  Index at;
};

// The groups of a block, in order; InputError if the block is not made of whole ones.
void for_groups(const std::vector<Index>& starts, Index rows, const DataBlock& block,
                const std::function<void(const GroupRows&)>& body);

// K_gg − AᵀA + diag(s), white noise included; the residual variances are not below zero.
Matrix residual_block(const SweepContext& c, const RowBlock& x, ConstMatrix A, ConstVector s);

// A group as some output columns see it. A row they miss is taken out by giving it no features, no
// residual and a variance of one, which adds nothing to any sum.
struct SeenGroup {
  std::vector<Index> missing;
  Matrix A;   // M×g
  Matrix r;   // g×P
  Matrix D;   // g×g
  Matrix LD;  // its lower factor

  SeenGroup(ConstMatrix whole_A, ConstRows whole_r, const Matrix& whole_D,
            const std::vector<Index>& columns, Index first_row);
};

}  // namespace covary
