#pragma once

#include <algorithm>
#include <span>
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
  Reducer& reducer() const override { return all_.reducer(); }

 private:
  const RowSource& all_;
  Index first_, n_;
};

// Copies of rows of another source, whose sums are added up as theirs.
class GatheredRows : public MemoryRows {
 public:
  GatheredRows(const RowSource& all, ConstRows X, ConstRows Y, ConstVector aux, ConstVector weights)
      : MemoryRows(X, Y, aux, weights), all_(all) {}
  Reducer& reducer() const override { return all_.reducer(); }

 private:
  const RowSource& all_;
};

// Which of n things the steps 0, 1, … take, `size` at a time: every pass visits each once, in an
// order of its own; the last of a pass may be fewer.
class BatchOrder {
 public:
  BatchOrder(Index n, Index size, std::uint64_t seed)
      : n_(n), size_(size), per_pass_((n + size - 1) / size), seed_(seed) {}
  Index per_pass() const { return per_pass_; }
  std::span<const Index> at(Index step) {
    const Index pass = step / per_pass_, first = step % per_pass_ * size_;
    if (pass != pass_) {
      order_ = Random(seed_, 0xba7c4 + static_cast<std::uint64_t>(pass)).permutation(n_);
      pass_ = pass;
    }
    return std::span(order_).subspan(static_cast<std::size_t>(first),
                                     static_cast<std::size_t>(std::min(size_, n_ - first)));
  }

 private:
  Index n_, size_, per_pass_;
  std::uint64_t seed_;
  Index pass_ = -1;
  std::vector<Index> order_;
};

// The minibatches of the steps 0, 1, …. Of rows in a file, batches are runs in any order.
class Batches {
 public:
  Batches(const RowSource& rows, bool in_memory, Index size, std::uint64_t seed)
      : rows_(rows),
        in_memory_(in_memory),
        size_(size),
        order_(in_memory ? rows.rows() : (rows.rows() + size - 1) / size, in_memory ? size : 1,
               seed) {
    if (!in_memory_) return;
    X_.resize(size, rows.dims());
    Y_.resize(size, rows.outputs());
    aux_.resize(size);
    weights_.resize(size);
  }
  Index per_pass() const { return order_.per_pass(); }

  template <class Use>
  auto with(Index step, const Use& use) {
    const std::span<const Index> chosen = order_.at(step);
    if (!in_memory_) {
      const Index first = chosen.front() * size_;
      return use(RowWindow(rows_, first, std::min(size_, rows_.rows() - first)));
    }
    const auto n = static_cast<Index>(chosen.size());
    ReadBuffer none;
    const DataBlock all = rows_.read(0, rows_.rows(), none);
    for (Index i = 0; i < n; ++i) {
      const Index row = chosen[static_cast<std::size_t>(i)];
      std::copy_n(all.x.row(row), all.x.dims, X_.row(i).data());
      std::copy_n(all.y + row * all.outputs, all.outputs, Y_.row(i).data());
      if (all.noise) aux_(i) = all.noise[row];
      if (all.weights) weights_(i) = all.weights[row];
    }
    return use(GatheredRows(rows_, X_.topRows(n), Y_.topRows(n), aux_.head(all.noise ? n : 0),
                            weights_.head(all.weights ? n : 0)));
  }

 private:
  const RowSource& rows_;
  bool in_memory_;
  Index size_;
  BatchOrder order_;
  RowMatrix X_, Y_;
  Vector aux_, weights_;
};

}  // namespace covary
