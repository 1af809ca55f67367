#pragma once

#include <functional>
#include <vector>

#include "covary/statistics/rows.hpp"

namespace covary {

// Adds up what lanes compute. A lane is a fixed part of the work with an accumulator of its own,
// `size` doubles that begin at zero; the sum is taken in the order of the lanes, so it has the same
// bits whoever computed which.
class Reducer {
 public:
  using Lane = std::function<void(Index lane, double* sum)>;
  virtual ~Reducer() = default;
  virtual Vector reduce(Index lanes, Index size, const Lane& body) = 0;
};

// Lanes by the threads of this process. Of the accumulators only those under way are kept.
Reducer& thread_reducer();

// The streaming sweep: blocks of rows, block i in lane i mod L, where the width of a block and L
// depend on the number of rows and features and never on the threads.
class Sweep {
 public:
  using Body = std::function<void(const DataBlock&, double* sum)>;

  // Blocks of about `width` rows.
  Sweep(const RowSource& rows, Index width, Reducer& reducer = thread_reducer());
  // For M features: blocks of 2 MB of Kuf.
  static Sweep for_features(const RowSource& rows, Index M, Reducer& reducer = thread_reducer());
  // Blocks that the caller lays out, as groups of rows: the first row of each.
  Sweep(const RowSource& rows, std::vector<Index> firsts, Reducer& reducer = thread_reducer());

  // The same blocks and the same reducer over other rows, as many as these.
  Sweep over(const RowSource& rows) const { return {rows, firsts_, *reducer_}; }

  const RowSource& rows() const { return rows_; }
  Index widest() const { return widest_; }  // rows of the largest block
  Index blocks() const { return static_cast<Index>(firsts_.size()); }

  // Σ over the blocks. make() gives a body, which adds to the sum of the block's lane and may keep
  // scratch of its own from block to block; as many are made as lanes run at once.
  Vector sum(Index size, const std::function<Body()>& make) const;
  // One after the other, on this thread.
  void for_each_block(const std::function<void(const DataBlock&)>& body) const;

 private:
  const RowSource& rows_;
  std::vector<Index> firsts_;
  Index widest_ = 0;
  Reducer* reducer_;
};

}  // namespace covary
