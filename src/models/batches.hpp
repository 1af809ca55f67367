#pragma once

#include <algorithm>
#include <vector>

#include "covary/random/random.hpp"
#include "covary/statistics/rows.hpp"

namespace covary {

// A run of rows of another source.
class RowWindow : public RowSource {
 public:
  RowWindow(const RowSource& all, Index first, Index n) : all_(all), first_(first), n_(n) {}
  Index rows() const override { return n_; }
  Index dims() const override { return all_.dims(); }
  Index outputs() const override { return all_.outputs(); }
  DataBlock read(Index first, Index n, ReadBuffer& buffer) const override {
    return all_.read(first_ + first, n, buffer);
  }

 private:
  const RowSource& all_;
  Index first_, n_;
};

// The minibatches of the steps 0, 1, …: every pass visits every row once, in an order of its own;
// the last batch of a pass may be smaller. Of rows in a file, batches are runs in any order.
class Batches {
 public:
  Batches(const RowSource& rows, bool in_memory, Index size, std::uint64_t seed)
      : rows_(rows),
        in_memory_(in_memory),
        size_(size),
        per_pass_((rows.rows() + size - 1) / size),
        seed_(seed) {
    if (!in_memory_) return;
    X_.resize(size, rows.dims());
    y_.resize(size, 1);
    aux_.resize(size);
    weights_.resize(size);
  }
  Index per_pass() const { return per_pass_; }

  template <class Use>
  auto with(Index step, const Use& use) {
    const Index pass = step / per_pass_, place = step % per_pass_;
    if (pass != pass_) {
      Random random(seed_, 0xba7c4 + static_cast<std::uint64_t>(pass));
      order_ = random.permutation(in_memory_ ? rows_.rows() : per_pass_);
      pass_ = pass;
    }
    if (!in_memory_) {
      const Index first = order_[static_cast<std::size_t>(place)] * size_;
      return use(RowWindow(rows_, first, std::min(size_, rows_.rows() - first)));
    }
    const Index n = std::min(size_, rows_.rows() - place * size_);
    ReadBuffer none;
    const DataBlock all = rows_.read(0, rows_.rows(), none);
    for (Index i = 0; i < n; ++i) {
      const Index row = order_[static_cast<std::size_t>(place * size_ + i)];
      std::copy_n(all.x.row(row), all.x.dims, X_.row(i).data());
      y_(i, 0) = all.y[row];
      if (all.noise) aux_(i) = all.noise[row];
      if (all.weights) weights_(i) = all.weights[row];
    }
    return use(MemoryRows(X_.topRows(n), y_.topRows(n), aux_.head(all.noise ? n : 0),
                          weights_.head(all.weights ? n : 0)));
  }

 private:
  const RowSource& rows_;
  bool in_memory_;
  Index size_, per_pass_;
  std::uint64_t seed_;
  Index pass_ = -1;
  std::vector<Index> order_;
  RowMatrix X_, y_;
  Vector aux_, weights_;
};

}  // namespace covary
