#include "covary/statistics/sweep.hpp"

#include <algorithm>
#include <map>
#include <mutex>

#include "covary/error.hpp"
#include "covary/linalg/parallel.hpp"

namespace covary {
namespace {

constexpr Index most_lanes = 16;

class ThreadReducer : public Reducer {
 public:
  Vector reduce(Index lanes, Index size, const Lane& body) override {
    Vector total = Vector::Zero(size);
    std::map<Index, Vector> waiting;  // finished before their turn
    std::vector<Vector> spare;        // added up already: their memory serves the next lane
    Index next = 0;
    std::mutex mutex;
    parallel_for(lanes, [&](Index lane) {
      Vector sum;
      {
        const std::lock_guard lock(mutex);
        if (!spare.empty()) {
          sum = std::move(spare.back());
          spare.pop_back();
        }
      }
      sum.setZero(size);
      body(lane, sum.data());
      const std::lock_guard lock(mutex);
      waiting.emplace(lane, std::move(sum));
      for (auto at = waiting.find(next); at != waiting.end(); at = waiting.find(++next)) {
        total += at->second;
        spare.push_back(std::move(at->second));
        waiting.erase(at);
      }
    });
    return total;
  }
};

std::vector<Index> even(Index rows, Index width) {
  std::vector<Index> firsts;
  for (Index first = 0; first < rows; first += width) firsts.push_back(first);
  return firsts;
}

}  // namespace

Reducer& thread_reducer() {
  static ThreadReducer reducer;
  return reducer;
}

Sweep::Sweep(const RowSource& rows, Index width, Reducer& reducer)
    : Sweep(rows, even(rows.rows(), width), reducer) {}

Sweep Sweep::for_features(const RowSource& rows, Index M, Reducer& reducer) {
  const Index width =
      std::clamp<Index>((Index{1} << 18) / std::max<Index>(1, M) / 32 * 32, 64, 1024);
  // At least one block for each lane, while blocks are not tiny.
  const Index share = (rows.rows() + most_lanes - 1) / most_lanes;
  return {rows, std::clamp<Index>(share, std::min<Index>(64, width), width), reducer};
}

Sweep::Sweep(const RowSource& rows, std::vector<Index> firsts, Reducer& reducer)
    : rows_(rows), firsts_(std::move(firsts)), reducer_(&reducer) {
  if (rows.rows() == 0) throw InputError("there are no rows of data");
  for (std::size_t i = 0; i < firsts_.size(); ++i) {
    const Index end = i + 1 < firsts_.size() ? firsts_[i + 1] : rows.rows();
    if (firsts_.front() != 0 || end <= firsts_[i])
      throw InputError("the blocks of a sweep must cover the rows in order");
    widest_ = std::max(widest_, end - firsts_[i]);
  }
}

Vector Sweep::sum(Index size, const std::function<Body(double* sum)>& make) const {
  const Index lanes = std::min(most_lanes, blocks());
  return reducer_->reduce(lanes, size, [&](Index lane, double* sum) {
    const Body body = make(sum);
    ReadBuffer buffer;
    for (Index i = lane; i < blocks(); i += lanes) {
      const auto at = static_cast<std::size_t>(i);
      const Index end = i + 1 < blocks() ? firsts_[at + 1] : rows_.rows();
      body(rows_.read(firsts_[at], end - firsts_[at], buffer));
    }
  });
}

void Sweep::for_each_block(const Body& body) const {
  ReadBuffer buffer;
  for (Index i = 0; i < blocks(); ++i) {
    const auto at = static_cast<std::size_t>(i);
    const Index end = i + 1 < blocks() ? firsts_[at + 1] : rows_.rows();
    body(rows_.read(firsts_[at], end - firsts_[at], buffer));
  }
}

}  // namespace covary
