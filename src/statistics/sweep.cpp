#include "covary/statistics/sweep.hpp"

#include <algorithm>

#include "covary/error.hpp"
#include "statistics/shelf.hpp"

namespace covary {
namespace {

// Up to 1024 blocks 16 lanes, then one for every 64 blocks, so that more cores find work.
constexpr Index few_lanes = 16, blocks_of_lane = 64;

Index lanes_of(Index blocks) {
  return std::min(blocks, std::max(few_lanes, blocks / blocks_of_lane));
}

std::vector<Index> even(Index rows, Index width) {
  std::vector<Index> firsts;
  for (Index first = 0; first < rows; first += width) firsts.push_back(first);
  return firsts;
}

}  // namespace

Sweep::Sweep(const RowSource& rows, Index width) : Sweep(rows, even(rows.rows(), width)) {}

Sweep Sweep::for_features(const RowSource& rows, Index M) {
  const Index width =
      std::clamp<Index>((Index{1} << 18) / std::max<Index>(1, M) / 32 * 32, 64, 1024);
  // At least one block for each lane, while blocks are not tiny.
  const Index share = (rows.rows() + few_lanes - 1) / few_lanes;
  return {rows, std::clamp<Index>(share, std::min<Index>(64, width), width)};
}

Sweep::Sweep(const RowSource& rows, std::vector<Index> firsts)
    : rows_(rows), firsts_(std::move(firsts)) {
  if (rows.rows() == 0) throw InputError("there are no rows of data");
  for (std::size_t i = 0; i < firsts_.size(); ++i) {
    const Index end = i + 1 < firsts_.size() ? firsts_[i + 1] : rows.rows();
    if (firsts_.front() != 0 || end <= firsts_[i])
      throw InputError("the blocks of a sweep must cover the rows in order");
    widest_ = std::max(widest_, end - firsts_[i]);
  }
}

Index Sweep::lanes() const { return lanes_of(blocks()); }

Vector Sweep::sum(Index size, const std::function<Body()>& make) const {
  return reduce(size, make, false);
}

Matrix Sweep::of_lanes(Index size, const std::function<Body()>& make) const {
  const Vector all = reduce(size, make, true);
  return Eigen::Map<const Matrix>(all.data(), size, lanes());
}

Vector Sweep::reduce(Index size, const std::function<Body()>& make, bool apart) const {
  const Index lanes = this->lanes();
  Shelf<Body> bodies(make);
  return rows_.reducer().reduce(lanes, apart ? lanes * size : size, [&](Index lane, double* sum) {
    if (apart) sum += lane * size;
    Body body = bodies.take();
    ReadBuffer buffer;
    for (Index i = lane; i < blocks(); i += lanes) {
      const auto at = static_cast<std::size_t>(i);
      const Index end = i + 1 < blocks() ? firsts_[at + 1] : rows_.rows();
      body(rows_.read(firsts_[at], end - firsts_[at], buffer), sum);
    }
    bodies.put(std::move(body));
  });
}

Vector Sweep::sum_of_rows(const std::vector<Index>& rows, Index size, const RowBody& body) const {
  std::vector<std::vector<Index>> places(static_cast<std::size_t>(lanes()));
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const Index block =
        std::upper_bound(firsts_.begin(), firsts_.end(), rows[i]) - firsts_.begin() - 1;
    places[static_cast<std::size_t>(block % lanes())].push_back(static_cast<Index>(i));
  }
  return rows_.reducer().reduce(lanes(), size, [&](Index lane, double* sum) {
    ReadBuffer buffer;
    for (const Index place : places[static_cast<std::size_t>(lane)])
      body(rows_.read(rows[static_cast<std::size_t>(place)], 1, buffer), place, sum);
  });
}

Sweep::Rows Sweep::gather(const std::vector<Index>& rows) const {
  const Index n = static_cast<Index>(rows.size()), D = rows_.dims(), P = rows_.outputs();
  const Vector all =
      sum_of_rows(rows, n * (D + P), [&](const DataBlock& row, Index place, double* sum) {
        std::copy_n(row.x.data, D, sum + place * (D + P));
        std::copy_n(row.y, P, sum + place * (D + P) + D);
      });
  const Eigen::Map<const RowMatrix> both(all.data(), n, D + P);
  return {both.leftCols(D), both.rightCols(P)};
}

void Sweep::for_each_block(const std::function<void(const DataBlock&)>& body) const {
  ReadBuffer buffer;
  for (Index i = 0; i < blocks(); ++i) {
    const auto at = static_cast<std::size_t>(i);
    const Index end = i + 1 < blocks() ? firsts_[at + 1] : rows_.rows();
    body(rows_.read(firsts_[at], end - firsts_[at], buffer));
  }
}

}  // namespace covary
