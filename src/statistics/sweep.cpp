#include "covary/statistics/sweep.hpp"

#include <algorithm>
#include <map>
#include <mutex>

#include "covary/error.hpp"
#include "covary/linalg/parallel.hpp"

namespace covary {
namespace {

constexpr Index most_lanes = 16;

// Things that lanes take, use and put back, so that their memory is warm for the next lane.
template <class T>
class Shelf {
 public:
  explicit Shelf(std::function<T()> make) : make_(std::move(make)) {}
  T take() {
    {
      const std::lock_guard lock(mutex_);
      if (!things_.empty()) {
        T thing = std::move(things_.back());
        things_.pop_back();
        return thing;
      }
    }
    return make_();
  }
  void put(T thing) {
    const std::lock_guard lock(mutex_);
    things_.push_back(std::move(thing));
  }

 private:
  std::function<T()> make_;
  std::mutex mutex_;
  std::vector<T> things_;
};

class ThreadReducer : public Reducer {
 public:
  Vector reduce(Index lanes, Index size, const Lane& body) override {
    Vector total;
    std::map<Index, Vector> waiting;  // finished before their turn
    Index next = 0;
    std::mutex mutex;
    Shelf<Vector> sums([] { return Vector(); });
    parallel_for(lanes, [&](Index lane) {
      Vector sum = sums.take();
      sum.setZero(size);
      body(lane, sum.data());
      const std::lock_guard lock(mutex);
      waiting.emplace(lane, std::move(sum));
      for (auto at = waiting.find(next); at != waiting.end(); at = waiting.find(++next)) {
        if (next == 0) {
          total = std::move(at->second);
        } else {
          total += at->second;
          sums.put(std::move(at->second));
        }
        waiting.erase(at);
      }
    });
    if (lanes == 0) total.setZero(size);
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

Vector Sweep::sum(Index size, const std::function<Body()>& make) const {
  const Index lanes = std::min(most_lanes, blocks());
  Shelf<Body> bodies(make);
  return reducer_->reduce(lanes, size, [&](Index lane, double* sum) {
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

void Sweep::for_each_block(const std::function<void(const DataBlock&)>& body) const {
  ReadBuffer buffer;
  for (Index i = 0; i < blocks(); ++i) {
    const auto at = static_cast<std::size_t>(i);
    const Index end = i + 1 < blocks() ? firsts_[at + 1] : rows_.rows();
    body(rows_.read(firsts_[at], end - firsts_[at], buffer));
  }
}

}  // namespace covary
