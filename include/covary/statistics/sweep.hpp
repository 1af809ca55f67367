#pragma once

#include <functional>
#include <vector>

#include "covary/statistics/rows.hpp"

namespace covary {

// The streaming sweep: blocks of rows, block i in lane i mod L, where the width of a block and L
// depend on the number of rows and features and never on the threads. What adds up the lanes comes
// with the rows.
class Sweep {
 public:
  using Body = std::function<void(const DataBlock&, double* sum)>;

  // Blocks of about `width` rows.
  Sweep(const RowSource& rows, Index width);
  // For M features: blocks of 2 MB of Kuf.
  static Sweep for_features(const RowSource& rows, Index M);
  // Blocks that the caller lays out, as groups of rows: the first row of each.
  Sweep(const RowSource& rows, std::vector<Index> firsts);

  // The same blocks over other rows, as many as these.
  Sweep over(const RowSource& rows) const { return {rows, firsts_}; }

  const RowSource& rows() const { return rows_; }
  Index widest() const { return widest_; }  // rows of the largest block
  Index blocks() const { return static_cast<Index>(firsts_.size()); }
  Index lanes() const;

  // Σ over the blocks. make() gives a body, which adds to the sum of the block's lane and may keep
  // scratch of its own from block to block; as many are made as lanes run at once.
  Vector sum(Index size, const std::function<Body()>& make) const;
  // The sums of every lane, not added: size × lanes. For what does not add up, such as extremes.
  Matrix of_lanes(Index size, const std::function<Body()>& make) const;
  // Σ over some rows, each read by itself in the lane of its block. The body gets its place among
  // `rows` and is shared by the lanes.
  using RowBody = std::function<void(const DataBlock& row, Index place, double* sum)>;
  Vector sum_of_rows(const std::vector<Index>& rows, Index size, const RowBody& body) const;
  // Some rows themselves, which every process then has.
  struct Rows {
    RowMatrix X, Y;
  };
  Rows gather(const std::vector<Index>& rows) const;
  // One after the other, on this thread.
  void for_each_block(const std::function<void(const DataBlock&)>& body) const;

 private:
  Vector reduce(Index size, const std::function<Body()>& make, bool apart) const;

  const RowSource& rows_;
  std::vector<Index> firsts_;
  Index widest_ = 0;
};

}  // namespace covary
