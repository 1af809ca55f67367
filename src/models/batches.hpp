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
  bool has_noise() const override { return all_.has_noise(); }

 private:
  const RowSource& all_;
  Index first_, n_;
};

// Some rows of another source in an order of their own, which each lane copies as it needs them.
class ChosenRows : public RowSource {
 public:
  ChosenRows(const RowSource& all, std::span<const Index> rows) : all_(all), rows_(rows) {}
  Index rows() const override { return static_cast<Index>(rows_.size()); }
  Index dims() const override { return all_.dims(); }
  Index outputs() const override { return all_.outputs(); }
  DataBlock read(Index first, Index n, ReadBuffer& buffer) const override {
    const Index D = dims(), P = outputs();
    buffer.x.resize(static_cast<std::size_t>(n * D));
    buffer.y.resize(static_cast<std::size_t>(n * P));
    buffer.noise.clear();
    buffer.weights.clear();
    ReadBuffer own;
    for (Index i = 0; i < n; ++i) {
      const DataBlock row = all_.read(rows_[static_cast<std::size_t>(first + i)], 1, own);
      std::copy_n(row.x.data, D, buffer.x.data() + i * D);
      std::copy_n(row.y, P, buffer.y.data() + i * P);
      if (row.noise) buffer.noise.push_back(*row.noise);
      if (row.weights) buffer.weights.push_back(*row.weights);
    }
    return {{buffer.x.data(), n, D, D, first},
            buffer.y.data(),
            P,
            buffer.noise.empty() ? nullptr : buffer.noise.data(),
            nullptr,
            buffer.weights.empty() ? nullptr : buffer.weights.data()};
  }
  Reducer& reducer() const override { return all_.reducer(); }
  bool has_noise() const override { return all_.has_noise(); }

 private:
  const RowSource& all_;
  std::span<const Index> rows_;
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
               seed) {}
  Index per_pass() const { return order_.per_pass(); }

  template <class Use>
  auto with(Index step, const Use& use) {
    const std::span<const Index> chosen = order_.at(step);
    if (!in_memory_) {
      const Index first = chosen.front() * size_;
      return use(RowWindow(rows_, first, std::min(size_, rows_.rows() - first)));
    }
    return use(ChosenRows(rows_, chosen));
  }

 private:
  const RowSource& rows_;
  bool in_memory_;
  Index size_;
  BatchOrder order_;
};

}  // namespace covary
